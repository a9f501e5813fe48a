// Names of files are bytes; the files that list them are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// Different for different names: \xFF for each byte that is not UTF-8, and two backslashes for one.
std::string utf8_of_bytes(std::string_view bytes);

}  // namespace weft
