// The table that `weft run` prints.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

std::string table(const RunReport& report);

}  // namespace weft
