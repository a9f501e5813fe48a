// Files of the gzip format, in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

struct Unpacked {
  std::string text;
  std::string problem;  // why the text is incomplete; empty if it is complete
};

// All members of the file, one after another. At most `at_most` bytes.
Unpacked gunzipped(std::string_view packed, std::int64_t at_most);

}  // namespace weft
