// Whether messages on stderr have colours.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/diagnostics.h"

namespace weft {

// Messages go to stderr; results alone to stdout. Colours only on a terminal, and not if NO_COLOR
// is set (no-color.org).
void start_log();

// What --color says: always, never, or auto, which changes nothing.
void use_color(const std::string& when);

// The mistakes of a file, on stderr.
void print_problems(const Diagnostics& problems);

// On stdout, as a terminal can show it: it has names and texts that others wrote.
void print_text(std::string_view text);

}  // namespace weft
