// manifest.json: what the results were made from. No date and no machine: the same input gives the
// same bytes.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

std::string manifest_json(const RunReport& report);

}  // namespace weft
