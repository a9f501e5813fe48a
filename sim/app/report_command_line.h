// `weft report` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/report_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_report(CLI::App& app, ReportCommand& command);

}  // namespace weft
