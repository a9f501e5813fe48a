// `weft calibrate` and `weft validate` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/calibrate_command.h"
#include "sim/app/validate_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_calibrate(CLI::App& app, CalibrateCommand& command);
CLI::App* add_validate(CLI::App& app, ValidateCommand& command);

}  // namespace weft
