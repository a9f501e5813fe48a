// A heap with eight children per node: a pop from hundreds of entries reads three or four pairs of
// cache lines instead of ten scattered ones. This pays if many heaps are used in turn and none
// stays in the caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/core/assert.h"

namespace weft {

template <class T>
class WideHeap {
 public:
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }  // in no order
  [[nodiscard]] auto end() const { return items_.end(); }
  [[nodiscard]] const T& top() const { return items_.front(); }
  void clear() { items_.clear(); }

  void push(T item) {
    std::size_t at = items_.size();
    items_.push_back(item);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kChildren;
      if (!(item < items_[parent])) break;
      items_[at] = items_[parent];
      at = parent;
    }
    items_[at] = item;
  }

  T pop() {
    SIM_ASSERT(!items_.empty());
    const T top = items_.front();
    const T last = items_.back();
    items_.pop_back();
    const std::size_t size = items_.size();
    if (size == 0) return top;
    std::size_t at = 0;
    while (true) {
      const std::size_t first = at * kChildren + 1;
      if (first >= size) break;
      const std::size_t end = std::min(first + kChildren, size);
      const std::size_t least =
          end - first == kChildren ? least_of_all(first) : least_of(first, end);
      if (!(items_[least] < last)) break;
      items_[at] = items_[least];
      at = least;
    }
    items_[at] = last;
    return top;
  }

 private:
  static constexpr std::size_t kChildren = 8;

  [[nodiscard]] std::size_t lesser(std::size_t a, std::size_t b) const {
    return items_[b] < items_[a] ? b : a;
  }
  [[nodiscard]] std::size_t least_of(std::size_t first, std::size_t end) const {
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) least = lesser(least, child);
    return least;
  }
  // As a tournament: comparisons of one round do not wait for each other.
  [[nodiscard]] std::size_t least_of_all(std::size_t first) const {
    static_assert(kChildren == 8);
    return lesser(lesser(lesser(first, first + 1), lesser(first + 2, first + 3)),
                  lesser(lesser(first + 4, first + 5), lesser(first + 6, first + 7)));
  }
  std::vector<T> items_;
};

}  // namespace weft
