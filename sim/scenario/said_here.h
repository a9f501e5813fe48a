// A value of a file as it would have to be said on the command line.
#pragma once

#include "sim/scenario/overlay.h"

namespace weft {

// The value of `one` with its paths, which start from the file that says them, seen from the
// working folder.
Node said_here(const Assignment& one);

}  // namespace weft
