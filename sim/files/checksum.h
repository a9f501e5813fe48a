// Checksums against damage: of whole files, and within the text of a JSON object.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// 16 hexadecimal digits: FNV-1a, which changes with any single byte.
std::string checksum_of(std::string_view text);

// The text of a JSON object with one more member at its end: "checksum", of all that is before it.
std::string with_checksum(std::string_view object);

enum class Checked { right, wrong, absent };
Checked check_checksum(std::string_view object);

}  // namespace weft
