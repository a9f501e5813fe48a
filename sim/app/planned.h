// What a command is about to read and write, as a question to be asked before it does.
#pragma once

#include "sim/files/place.h"

namespace weft {

// Says what is wrong with it, the user's mistakes all at once; false: nothing is. What the machine
// does not allow is an exception.
bool refused(const Planned& planned);

}  // namespace weft
