// Compression to the gzip format.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The same text gives the same bytes: they hold no name and no date.
std::string gzipped(std::string_view text);

}  // namespace weft
