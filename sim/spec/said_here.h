// A value of a file as it would have to be said on the command line.
#pragma once

#include <string_view>

#include "sim/spec/tree.h"

namespace weft {

// `value` of the key `key`: paths, which start from the file that says them, from the working
// folder.
Node said_here(std::string_view key, Node value);

}  // namespace weft
