// The commands that explain weft, on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/completion_command.h"
#include "sim/app/explain_command.h"
#include "sim/app/list_command.h"
#include "sim/app/schema_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_explain(CLI::App& app, ExplainCommand& command);
CLI::App* add_list(CLI::App& app, ListCommand& command);
CLI::App* add_schema(CLI::App& app, SchemaCommand& command);
CLI::App* add_completion(CLI::App& app, CompletionCommand& command);
CLI::App* add_man_page(CLI::App& app);  // hidden: for the build

}  // namespace weft
