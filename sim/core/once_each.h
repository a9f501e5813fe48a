// A list without its repetitions.
#pragma once

#include <algorithm>
#include <vector>

namespace weft {

// In ascending order.
template <class T>
std::vector<T> once_each(std::vector<T> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

}  // namespace weft
