// The secret that every request of `weft serve` has to know.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// 128 bits of the operating system's, as 32 hexadecimal digits.
std::string new_token();

// Takes equally long wherever they differ: how long it takes tells nothing of the token.
bool same_token(std::string_view one, std::string_view other);

}  // namespace weft
