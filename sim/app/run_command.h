// `weft run`: a scenario, from its file to its reports.
#pragma once

#include "sim/app/command_line.h"

namespace weft {

// Returns the exit code; failures of the system are exceptions.
int run_command(const RunCommand& command);

}  // namespace weft
