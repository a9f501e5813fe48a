// Names of files are bytes; what they are listed in is UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The same for no two names: \xFF for each byte that is not UTF-8, and two backslashes for one.
std::string utf8_of_bytes(std::string_view bytes);

}  // namespace weft
