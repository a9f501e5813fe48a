// `weft serve` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/serve_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_serve(CLI::App& app, ServeCommand& command);

}  // namespace weft
