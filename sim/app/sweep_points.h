// Points of a sweep: those that are asked for (--only), and of a sweep that is not run (--dry-run).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/sweep/sweep_rows.h"

namespace weft {

// The plan of these points, numbered from 1; empty: of all. None: it has not so many, which is
// said.
std::optional<SweepPlan> plan_of_points(const SweepPlan& plan,
                                        const std::vector<std::size_t>& only);

// Prints them, numbered as in the file's whole plan, of which `only` were asked for (empty: all),
// and what is wrong with them; the exit code.
int print_points(const SweepPlan& plan, const std::vector<SweepRow>& rows,
                 const std::vector<std::size_t>& only);

}  // namespace weft
