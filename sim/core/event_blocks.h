// Many lists of events, of which few are long at any time: all take their memory, in blocks, from
// one store, and give it back when they are emptied.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/event_queue.h"

namespace weft {

class EventBlocks {
  static constexpr std::size_t kEvents = 64;
  struct Block {
    std::array<Event, kEvents> events;
    Block* next = nullptr;
  };

 public:
  class List {
   public:
    [[nodiscard]] std::size_t size() const { return size_; }
    // In the order in which they were added; use(several of them).
    template <class Use>
    void for_each(Use use) const {
      std::size_t left = size_;
      for (const Block* block = first_; block != nullptr; block = block->next) {
        const std::size_t here = std::min(left, kEvents);
        use(std::span<const Event>(block->events.data(), here));
        left -= here;
      }
    }

   private:
    friend class EventBlocks;
    Block* first_ = nullptr;
    Block* last_ = nullptr;
    std::size_t size_ = 0;
  };

  void add(List& list, const Event& event) {
    const std::size_t at = list.size_ % kEvents;
    if (at == 0) append_block(list);
    list.last_->events[at] = event;
    ++list.size_;
  }

  // Empties the list; use(several of its events), in order. What `use` adds to other lists takes
  // the memory of what has been used.
  template <class Use>
  void empty(List& list, Use use) {
    List from = std::exchange(list, {});
    while (from.first_ != nullptr) {
      Block* block = from.first_;
      const std::size_t here = std::min(from.size_, kEvents);
      use(std::span<const Event>(block->events.data(), here));
      from.size_ -= here;
      from.first_ = block->next;
      block->next = free_;
      free_ = block;
    }
  }

  // In all, those not in use included.
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

 private:
  void append_block(List& list) {
    if (free_ == nullptr) {
      blocks_.push_back(std::make_unique<Block>());
      free_ = blocks_.back().get();
    }
    Block* block = std::exchange(free_, free_->next);
    block->next = nullptr;
    (list.last_ == nullptr ? list.first_ : list.last_->next) = block;
    list.last_ = block;
  }

  std::vector<std::unique_ptr<Block>> blocks_;
  Block* free_ = nullptr;
};

}  // namespace weft
