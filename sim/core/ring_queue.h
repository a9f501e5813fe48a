// First in, first out, in one growing ring of memory: neighbours in the queue are neighbours in
// memory, so long queues stream through the caches. The slots that the next push and the pop after
// the next will touch are prefetched: without this, large runs take a fifth longer. Memory is never
// given back, but a ring that is mostly empty goes around in the first part of it.
//
// A ring has its memory to itself, or from a store (RingStore) that many rings share and that
// outlives them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/ring_store.h"

namespace weft {

template <class T, class Memory = OwnRings<T>>
class RingQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const T& front() const { return ring_[head_]; }

  // The item that has `behind` others before it.
  [[nodiscard]] const T& at(std::size_t behind) const {
    SIM_ASSERT(behind < size_);
    return ring_[(head_ + static_cast<std::uint32_t>(behind)) & mask_];
  }

  // The last item, which may be changed until the next one is pushed.
  [[nodiscard]] T& back() { return ring_[(head_ + size_ - 1) & mask_]; }

  void push(const T& item) {
    Memory own;
    push(item, own);
  }
  // Always from the same store.
  void push(const T& item, Memory& memory) {
    if (ring_ == nullptr || size_ > mask_) grow(memory);
    ring_[(head_ + size_) & mask_] = item;
    ++size_;
    __builtin_prefetch(&ring_[(head_ + size_) & mask_], 1);
  }

  T pop() {
    SIM_ASSERT(size_ > 0);
    const T item = ring_[head_];
    head_ = (head_ + 1) & mask_;
    --size_;
    if (head_ == 0 && size_ <= mask_ / 4 && mask_ >= kLeast) mask_ /= 2;
    __builtin_prefetch(&ring_[(head_ + 2) & mask_]);
    return item;
  }

  // Brings what the next pops, or the next push, will touch into the caches; without an effect on
  // anything else.
  void fetch_first() const {
    __builtin_prefetch(ring_.get() + head_);
    __builtin_prefetch(ring_.get() + ((head_ + 2) & mask_));
  }
  void fetch_end() const { __builtin_prefetch(ring_.get() + ((head_ + size_) & mask_), 1); }

 private:
  static constexpr std::uint32_t kLeast = 4;

  // The ring is full: what lies before its head goes behind its end.
  void grow(Memory& memory) {
    SIM_ASSERT(size_ < (1U << 30U));
    if (ring_ == nullptr) {
      ring_.reset(memory.take(kLeast));
      room_ = kLeast;
      mask_ = kLeast - 1;
      return;
    }
    if (room_ == size_) {
      T* const ring = memory.take(std::size_t{2} * room_);
      std::copy_n(ring_.get(), size_, ring);
      memory.give(ring_.release(), room_);
      ring_.reset(ring);
      room_ *= 2;
    }
    std::copy_n(ring_.get(), head_, ring_.get() + size_);
    mask_ = 2 * size_ - 1;
  }

  std::unique_ptr<T[], typename Memory::Delete> ring_;
  std::uint32_t room_ = 0;
  std::uint32_t mask_ = 0;  // the size of the part in use, a power of two, minus one
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace weft
