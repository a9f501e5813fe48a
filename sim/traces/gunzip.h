// Files of the gzip format, in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

struct Unpacked {
  std::string text;
  std::string problem;  // why it is not all of it; empty where it is
};

// All members of the file, one behind the other. No more than `at_most` bytes.
Unpacked gunzipped(std::string_view packed, std::int64_t at_most);

}  // namespace weft
