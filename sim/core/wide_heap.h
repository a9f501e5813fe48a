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
      std::size_t least = first;
      const std::size_t end = std::min(first + kChildren, size);
      for (std::size_t child = first + 1; child < end; ++child) {
        if (items_[child] < items_[least]) least = child;
      }
      if (!(items_[least] < last)) break;
      items_[at] = items_[least];
      at = least;
    }
    items_[at] = last;
    return top;
  }

 private:
  static constexpr std::size_t kChildren = 8;
  std::vector<T> items_;
};

}  // namespace weft
