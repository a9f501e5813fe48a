// Singular or plural: fmt::format("{} {}", n, plural(n, "leaf", "leaves")).
#pragma once

#include <string_view>

namespace weft {

template <class Count>
constexpr std::string_view plural(Count count, std::string_view one, std::string_view several) {
  return count == Count{1} ? one : several;
}

}  // namespace weft
