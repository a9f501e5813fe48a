// First in, first out, in one growing ring of memory: neighbours in the queue are neighbours in
// memory, so long queues stream through the caches. Never shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/assert.h"

namespace weft {

template <class T>
class RingQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const T& front() const { return ring_[head_]; }

  void push(const T& item) {
    if (size_ == ring_.size()) grow();
    ring_[(head_ + size_) & (ring_.size() - 1)] = item;
    ++size_;
    __builtin_prefetch(&ring_[(head_ + size_) & (ring_.size() - 1)], 1);
  }

  // Where the next pop will read, for prefetching.
  [[nodiscard]] const void* front_address() const { return &ring_[head_]; }

  T pop() {
    SIM_ASSERT(size_ > 0);
    const T item = ring_[head_];
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    // The one after the new front is wanted at the next pop; long queues are not in the caches.
    __builtin_prefetch(&ring_[(head_ + 2) & (ring_.size() - 1)]);
    return item;
  }

 private:
  void grow() {
    std::vector<T> larger(ring_.empty() ? 4 : ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> ring_;  // its size is a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace weft
