// A plain 4-ary heap: the yardstick for queues of events. Four children share a cache line. pop()
// leaves a hole at the top, which the next push() fills: pop and push are one walk down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::bench {

// An event of 16 bytes, ordered by (time, content) without a branch.
struct Key {
  std::uint64_t at_ps;
  std::uint64_t content;
  bool operator<(const Key& other) const {
    __extension__ using Wide = unsigned __int128;
    return ((Wide{at_ps} << 64U) | content) < ((Wide{other.at_ps} << 64U) | other.content);
  }
};
static_assert(sizeof(Key) == 16);

template <class Item>
class FourHeap {
 public:
  [[nodiscard]] bool empty() const { return items_.size() == (hole_ ? 1 : 0); }

  void push(const Item& item) {
    if (hole_) {
      hole_ = false;
      sink(item);
      return;
    }
    items_.push_back(item);
    std::size_t at = items_.size() - 1;
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (!(item < items_[parent])) break;
      items_[at] = items_[parent];
      at = parent;
    }
    items_[at] = item;
  }

  // Not from an empty heap.
  Item pop() {
    if (hole_) {
      const Item last = items_.back();
      items_.pop_back();
      sink(last);
    }
    hole_ = true;
    return items_.front();
  }

 private:
  // Puts `item` into the hole at the top.
  void sink(const Item& item) {
    const std::size_t size = items_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 4 * at + 1) {
      std::size_t least = child;
      const std::size_t end = child + 4 < size ? child + 4 : size;
      for (std::size_t i = child + 1; i < end; ++i) {
        least = items_[i] < items_[least] ? i : least;
      }
      if (!(items_[least] < item)) break;
      items_[at] = items_[least];
      at = least;
    }
    items_[at] = item;
  }

  std::vector<Item> items_;
  bool hole_ = false;
};

}  // namespace weft::bench
