// operators.csv and links.csv: one row per mode and operator, or link. RFC 4180, lines end in \n.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

std::string operators_csv(const RunReport& report);
std::string links_csv(const RunReport& report);

}  // namespace weft
