// `weft import` and `weft export` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/export_command.h"
#include "sim/app/import_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_import(CLI::App& app, ImportCommand& command);
CLI::App* add_export(CLI::App& app, ExportCommand& command);

}  // namespace weft
