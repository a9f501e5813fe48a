// Which program this is, to the byte: for files that only the program that wrote them may read.
#pragma once

#include <string>

namespace weft {

// 32 hexadecimal digits, of the program and the libraries it has loaded: of each its build id,
// which the linker makes from all of its contents, or, where it has none, its file. A version's
// number would be the same for two builds of a developer, and the program's file alone leaves out
// what a library computes (the logarithms of libm).
std::string program_id();

}  // namespace weft
