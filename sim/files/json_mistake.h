// Where a text stops being JSON, and why, in words of our own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft {

struct JsonMistake {
  int line = 1;
  int column = 1;
  std::string words = "cannot be read";  // "in an object: expected ':'"
};

// The first one; also a number that no double holds, and text that is not UTF-8. With `first_only`
// what follows the first value is not looked at.
std::optional<JsonMistake> first_json_mistake(std::string_view text, bool first_only = false);

// "not JSON at line 3, column 5: ..."
std::string text_of(const JsonMistake& mistake);

}  // namespace weft
