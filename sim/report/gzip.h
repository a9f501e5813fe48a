// Compression to the gzip format.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The same bytes for the same text: no name and no date in it.
std::string gzipped(std::string_view text);

}  // namespace weft
