// results.csv of a sweep: one row per point. Its columns are the axes, point, status, error, then
// <mode>_<field> and <mode>_vs_<other>_speedup.
#pragma once

#include <string>
#include <vector>

#include "sim/html/page.h"

namespace weft {

struct SweepResults {
  PageTable points;                 // one row per point and mode: axes, mode, fields
  std::vector<std::string> fields;  // of the modes, numbers only; time_us first, then speed-ups
  std::vector<std::string> failed;  // "batch 512, pooling 20: why"
  std::size_t rows = 0;
};

SweepResults sweep_results(const CsvTable& csv, const std::vector<std::string>& axes,
                           Diagnostics& problems);

}  // namespace weft
