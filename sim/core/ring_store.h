// Memory of rings whose sizes are powers of two. What a ring gives back when it grows, another
// takes. A store takes its memory in ever larger pieces, so that those of large runs lie in huge
// pages: a message that comes to a queue of millions then waits less for the translation of its
// address.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/huge_pages.h"

namespace weft {

// A ring has its memory to itself.
template <class T>
struct OwnRings {
  static_assert(std::is_trivially_copyable_v<T>);
  using Delete = std::default_delete<T[]>;
  static T* take(std::size_t items) { return std::make_unique_for_overwrite<T[]>(items).release(); }
  static void give(T* ring, std::size_t /*items*/) { Delete()(ring); }
};

template <class T>
class RingStore {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  struct Delete {
    void operator()(T* /*ring*/) const {}  // the store does
  };

  RingStore() = default;
  RingStore(const RingStore&) = delete;
  RingStore& operator=(const RingStore&) = delete;
  RingStore(RingStore&&) = delete;
  RingStore& operator=(RingStore&&) = delete;
  ~RingStore() {
    for (const Piece& piece : pieces_) Pages().deallocate(piece.begin, piece.items);
  }

  // As many as a power of two.
  T* take(std::size_t items) {
    SIM_ASSERT(std::has_single_bit(items));
    std::vector<T*>& free = free_[static_cast<std::size_t>(std::countr_zero(items))];
    if (!free.empty()) {
      T* const ring = free.back();
      free.pop_back();
      return ring;
    }
    if (left_ < items) add_piece(items);
    left_ -= items;
    return std::exchange(next_, next_ + items);
  }
  void give(T* ring, std::size_t items) {
    free_[static_cast<std::size_t>(std::countr_zero(items))].push_back(ring);
  }

  // In all, those not in use included.
  [[nodiscard]] std::size_t items() const { return items_; }

 private:
  using Pages = HugePages<T>;
  static constexpr std::size_t kFirst = 1024;
  static constexpr std::size_t kLargest = (std::size_t{4} << 20U) / sizeof(T);
  struct Piece {
    T* begin;
    std::size_t items;
  };

  // A quarter of what there is, so that little is never used; what is left of the last one is lost.
  void add_piece(std::size_t least) {
    const std::size_t items = std::max(least, std::clamp(items_ / 4, kFirst, kLargest));
    pieces_.push_back({.begin = Pages().allocate(items), .items = items});
    next_ = pieces_.back().begin;
    left_ = items;
    items_ += items;
  }

  std::vector<Piece> pieces_;
  T* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t items_ = 0;
  std::array<std::vector<T*>, 64> free_;  // by the logarithm of their items
};

}  // namespace weft
