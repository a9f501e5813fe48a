// summary.json: one run of `weft` in numbers. The same input gives the same bytes, except wall_s,
// events_per_s and peak_rss_bytes of `engine`.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

std::string summary_json(const RunReport& report);

}  // namespace weft
