// A queue of hundreds of items, least first, of which new ones mostly come late: those that come
// next are sorted, a batch at a time, and taken one after another; the others wait in no order. So
// a pop and a push touch one cache line each, where those of a heap touch several per level. This
// pays if many queues are used in turn and none stays in the caches.
//
// Few items, and those that come too soon for their batch, are in a heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/wide_heap.h"

namespace weft {

template <class T>
class SortedBatches {
 public:
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return heap_.size() + sorted_ + waiting(); }
  [[nodiscard]] const T& top() const {
    return sorted_comes_next() ? items_[sorted_ - 1] : heap_.top();
  }
  // In no order.
  template <class Use>
  void for_each(Use use) const {
    for (const T& item : heap_) use(item);
    for (std::size_t i = 0; i < sorted_; ++i) use(items_[i]);
    for (std::size_t i = waiting_from_; i < items_.size(); ++i) use(items_[i]);
  }

  void push(const T& item) {
    if (waiting() > 0 && !(item < first_waiting_)) return wait(item);
    heap_.push(item);
    if (heap_.size() > kFew && heap_.size() > size() / 4) sort_all();
  }

  T pop() {
    if (!sorted_comes_next()) {
      SIM_ASSERT(!heap_.empty());
      const T least = heap_.pop();
      if (heap_.empty() && sorted_ == 0 && waiting() > 0) sort_waiting();
      return least;
    }
    const T least = items_[--sorted_];
    if (sorted_ == 0 && heap_.empty()) sort_waiting();
    return least;
  }

 private:
  static constexpr std::size_t kFew = 64;

  [[nodiscard]] std::size_t waiting() const { return items_.size() - waiting_from_; }
  [[nodiscard]] bool sorted_comes_next() const {
    return sorted_ > 0 && (heap_.empty() || items_[sorted_ - 1] < heap_.top());
  }

  void wait(const T& item) {
    if (waiting_from_ == sorted_) make_room(items_.empty() ? 2 * kFew : 2 * items_.size());
    items_[--waiting_from_] = item;
  }

  void make_room(std::size_t room) {
    std::vector<T> larger(room);
    std::copy_n(items_.begin(), sorted_, larger.begin());
    std::copy_backward(items_.begin() + static_cast<std::ptrdiff_t>(waiting_from_), items_.end(),
                       larger.end());
    waiting_from_ = room - waiting();
    items_ = std::move(larger);
  }

  // The heap has become large: a new batch, of all.
  void sort_all() {
    while (sorted_ > 0) {
      const T item = items_[--sorted_];
      wait(item);
    }
    for (const T& item : heap_) wait(item);
    heap_.clear();
    sort_waiting();
  }

  // The next batch: three quarters, so that a few that come very late do not make one of all.
  void sort_waiting() {
    std::vector<T> all(items_.begin() + static_cast<std::ptrdiff_t>(waiting_from_), items_.end());
    waiting_from_ = items_.size();
    if (all.size() <= kFew) {
      for (const T& item : all) heap_.push(item);
      return;
    }
    std::sort(all.begin(), all.end());
    const auto first_waiting = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4 * 3);
    std::reverse_copy(all.begin(), first_waiting, items_.begin());
    sorted_ = static_cast<std::size_t>(first_waiting - all.begin());
    waiting_from_ = items_.size() - static_cast<std::size_t>(all.end() - first_waiting);
    std::copy(first_waiting, all.end(),
              items_.begin() + static_cast<std::ptrdiff_t>(waiting_from_));
    first_waiting_ = *first_waiting;
  }

  // Two stacks in one array: at its beginning the batch, the next one last; at its end what waits,
  // none of it less than `first_waiting_`.
  std::vector<T> items_;
  std::size_t sorted_ = 0;
  std::size_t waiting_from_ = 0;
  T first_waiting_{};
  WideHeap<T> heap_;
};

}  // namespace weft
