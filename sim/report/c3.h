// What reports say about kind c3: each strategy against the GEMM and the collective alone.
//
// With Tc the time of the GEMM alone, Tm of the collective's kernel alone (never copy engines) and
// T a strategy's time (Agrawal et al., ISPASS 2025, arXiv:2412.14335):
//
//   speed-up S = (Tc + Tm) / T      ideal = (Tc + Tm) / max(Tc, Tm)
//   fraction of ideal = (S - 1) / (ideal - 1): 0 is one after the other, 1 hides all of the
//   shorter one. Above 1 if copy engines are faster than the kernel, below 0 if S < 1
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/report/columns.h"
#include "sim/report/run_report.h"

namespace weft {

struct Isolated {
  Duration compute;
  Duration communicate;
};

double speedup(const Isolated& alone, Duration together);
double ideal_speedup(const Isolated& alone);
double fraction_of_ideal(const Isolated& alone, Duration together);

// "G-long" if the GEMM takes more than 1.15 times as long as the collective, "C-long" if the
// reverse, else "GC-equal" (same source).
const char* balance_of(const Isolated& alone);

// What summary.json says about both alone.
using C3Field = Column<Isolated>;
std::span<const C3Field> c3_fields();

// Empty if the kind is another one or a run is missing.
std::optional<Isolated> isolated(const RunReport& report);

// How far each strategy is from the ideal and why, in sentences.
std::string why_c3(const RunReport& report);

}  // namespace weft
