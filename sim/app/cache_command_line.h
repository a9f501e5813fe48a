// `weft cache` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/cache_command.h"

namespace weft {

// `command` is filled in when the application parses.
CLI::App* add_cache(CLI::App& app, CacheCommand& command);

}  // namespace weft
