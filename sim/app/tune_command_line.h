// `weft tune` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/tune_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_tune(CLI::App& app, TuneCommand& command);

}  // namespace weft
