// Window queue: the events of many places, window by window and, within a window, place by place.
//
// What happens at one place reaches another only after `lookahead` or more. So within a window no
// longer than that, each place has nothing to expect from the others, and its events can be handled
// without looking at theirs: in the order (time, content) that they have in one queue
// (docs/decisions/0014-windows.md).
//
// Windows are numbered, floor(time x factor / 2^64), with a factor that makes none longer than the
// lookahead. A radix heap on these numbers hands out all events of a window at once; they are laid
// out by place, and those of a place are sorted when it is visited. So the cost of an event depends
// neither on the number of pending events nor on that of places, and what one visit needs stays in
// the caches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/event_blocks.h"
#include "sim/core/quantity.h"
#include "sim/core/wide_heap.h"

namespace weft {

class WindowQueue {
 public:
  static constexpr Duration kLeastLookahead = picoseconds(2);  // the factor fits 64 bits

  // Of content, only what kPlaceBits leaves: the place is kept there. `tie_shuffle`: as EventQueue.
  static constexpr unsigned kPlaceShift = 32;
  static constexpr unsigned kPlaceBits = 28;

  WindowQueue(Duration lookahead, std::uint32_t places, std::uint64_t tie_shuffle = 0)
      : factor_(UINT64_MAX / static_cast<std::uint64_t>(lookahead.count()) + 1),
        tie_mask_(tie_shuffle),
        next_slot_(places) {
    SIM_ASSERT(lookahead >= kLeastLookahead);
    SIM_ASSERT(places < (1U << kPlaceBits));
  }

  void push(SimTime at, std::uint64_t content, std::uint32_t place) {
    SIM_ASSERT(at.count() >= 0);
    const Event event{static_cast<std::uint64_t>(at.count()),
                      (content | std::uint64_t{place} << kPlaceShift) ^ tie_mask_};
    if (event.at_ps >= end_) {
      const std::uint64_t window = window_of(event.at_ps);
      SIM_ASSERT(window >= window_);
      return file(event, window);
    }
    SIM_ASSERT(place == place_);  // the others' events must not come so soon
    SIM_ASSERT(event.at_ps >= last_);
    put_in_order(event);
  }

  [[nodiscard]] bool empty() const { return levels_used_ == 0; }

  // The time of the earliest event, and how many events may be near it: no fewer than its window
  // has.
  struct Next {
    SimTime at = kNever;  // kNever: there is none
    std::size_t events = 0;
  };
  static constexpr SimTime kNever = SimTime::from_count(INT64_MAX);
  // Only while no window is being handled.
  [[nodiscard]] const Next& next() {
    if (!known_next_) known_next_ = found_next();
    return *known_next_;
  }

  // Begins the window of `first`, of which this queue may have no event, as others that are handled
  // in the same windows do: of its events in the window, all until `stop`.
  void begin_window(SimTime first, SimTime stop) {
    SIM_ASSERT(visited_ == visits_.size() && first <= stop);
    visits_.clear();
    visited_ = 0;
    const std::uint64_t window = window_of(static_cast<std::uint64_t>(first.count()));
    const SimTime own = next().at;
    SIM_ASSERT(own >= first);
    if (own == kNever || window_of(static_cast<std::uint64_t>(own.count())) != window) return;
    advance(window);
    end_ = std::min(static_cast<std::uint64_t>(stop.count()) + 1, end_of(window));
    lay_out_by_place();
    known_next_.reset();
  }

  // Goes on to the next place with events in this window; false: all have been visited.
  bool next_place() {
    SIM_ASSERT(!more());
    longest_ = std::max(longest_, tail_);
    head_ = 0;
    tail_ = 0;
    if (visited_ == visits_.size()) {
      end_ = 0;
      return false;
    }
    const Visit& visit = visits_[visited_++];
    place_ = visit.place;
    last_ = 0;
    if (visit.end - visit.begin <= kNearTheEnd) {
      for (std::uint32_t i = visit.begin; i < visit.end; ++i) put_in_order(by_place_[i]);
      return true;
    }
    tail_ = visit.end - visit.begin;
    if (ordered_.size() < tail_) ordered_.resize(std::bit_ceil(tail_));
    std::copy_n(by_place_.begin() + visit.begin, tail_, ordered_.begin());
    std::sort(ordered_.begin(), ordered_.begin() + tail_);
    return true;
  }
  [[nodiscard]] std::uint32_t place() const { return place_; }
  // The place that is visited so many visits after this one, if at least `least` of its events in
  // this window are known.
  [[nodiscard]] std::optional<std::uint32_t> place_after(std::size_t visits,
                                                         std::uint32_t least) const {
    const std::size_t at = visited_ + visits - 1;
    if (at >= visits_.size() || visits_[at].end - visits_[at].begin < least) return std::nullopt;
    return visits_[at].place;
  }
  // What is known so far of the place after this one: use(content), in no order.
  template <class Use>
  void for_next_place(Use use) const {
    if (visited_ == visits_.size()) return;
    const Visit& next = visits_[visited_];
    for (std::uint32_t i = next.begin; i < next.end; ++i) {
      use((by_place_[i].content ^ tie_mask_) & ~kPlaceMask);
    }
  }

  // The events for which a window has memory.
  [[nodiscard]] std::size_t room() const { return by_place_.capacity() + ordered_.capacity(); }

  // Of the place, in this window.
  [[nodiscard]] bool more() const { return head_ != tail_ || !others_.empty(); }
  // True if another event of the instant of the last pop is pending there.
  [[nodiscard]] bool more_now() const {
    return (head_ != tail_ && ordered_[head_].at_ps == last_) ||
           (!others_.empty() && others_.top().at_ps == last_);
  }
  Event pop() {
    Event event;
    if (others_.empty() || (head_ != tail_ && ordered_[head_] < others_.top())) [[likely]] {
      event = ordered_[head_++];
    } else {
      event = others_.pop();
    }
    last_ = event.at_ps;
    event.content = (event.content ^ tie_mask_) & ~kPlaceMask;
    return event;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kDigits = 1U << kBits;
  static constexpr unsigned kLevels = 66 / kBits;
  static constexpr std::uint64_t kPlaceMask = ((std::uint64_t{1} << kPlaceBits) - 1) << kPlaceShift;
  // In the first window of a run every WG may start. The memory for so many is not kept.
  static constexpr std::size_t kLargeWindow = 1U << 16U;
  struct Visit {
    std::uint32_t place;
    std::uint32_t begin;
    std::uint32_t end;
  };

  [[nodiscard]] std::uint64_t window_of(std::uint64_t at_ps) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{at_ps} * factor_) >> 64U);
  }
  // The earliest time of the next window.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t window) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(((Wide{window + 1} << 64U) + factor_ - 1) / factor_);
  }
  [[nodiscard]] std::uint32_t place_of(const Event& event) const {
    return static_cast<std::uint32_t>(((event.content ^ tie_mask_) & kPlaceMask) >> kPlaceShift);
  }

  // Of the visit. Most come last or nearly so.
  void put_in_order(const Event& event) {
    if (tail_ == ordered_.size()) make_room();
    if (tail_ - head_ > kNearTheEnd && event < ordered_[tail_ - kNearTheEnd]) {
      return others_.push(event);
    }
    std::uint32_t at = tail_;
    for (; at > head_ && event < ordered_[at - 1]; --at) ordered_[at] = ordered_[at - 1];
    ordered_[at] = event;
    ++tail_;
  }

  // Apart, as file() is: push() is short where it is called. Of a long visit most events may have
  // been popped: their places are used again, so that the room is that of the pending ones.
  [[gnu::noinline]] void make_room() {
    if (head_ > ordered_.size() / 2) {
      longest_ = std::max(longest_, tail_);
      std::copy(ordered_.begin() + head_, ordered_.begin() + tail_, ordered_.begin());
      tail_ -= head_;
      head_ = 0;
      return;
    }
    ordered_.resize(std::max<std::size_t>(64, 2 * ordered_.size()));
  }

  // By the highest digit in which the number of its window differs from the present one's.
  [[gnu::noinline]] void file(const Event& event, std::uint64_t window) {
    const auto width = static_cast<unsigned>(std::bit_width((window ^ window_) | 1U));
    const unsigned level = (width - 1) / kBits;
    const unsigned digit = static_cast<unsigned>(window >> (level * kBits)) & (kDigits - 1);
    blocks_.add(buckets_[level * kDigits + digit], event);
    digits_used_[level] |= std::uint64_t{1} << digit;
    levels_used_ |= 1U << level;
    known_next_.reset();
  }

  // The buckets with the lowest digit of the lowest level have the earliest window's events.
  [[nodiscard]] EventBlocks::List& earliest_bucket() {
    const auto level = static_cast<unsigned>(std::countr_zero(levels_used_));
    const auto digit = static_cast<unsigned>(std::countr_zero(digits_used_[level]));
    return buckets_[level * kDigits + digit];
  }

  [[nodiscard]] Next found_next() {
    if (empty()) return {};
    const EventBlocks::List& bucket = earliest_bucket();
    std::uint64_t first = UINT64_MAX;
    bucket.for_each([&first](std::span<const Event> events) {
      for (const Event& event : events) first = std::min(first, event.at_ps);
    });
    return {.at = SimTime::from_count(static_cast<std::int64_t>(first)), .events = bucket.size()};
  }

  // Makes `window`, the earliest, the present one: a bucket of level 0 then has its events.
  void advance(std::uint64_t window) {
    window_ = window;
    const auto level = static_cast<unsigned>(std::countr_zero(levels_used_));
    if (level == 0) return;
    // Each differs from the window only in lower digits: none goes into this bucket.
    blocks_.empty(earliest_bucket(), [this](std::span<const Event> events) {
      for (const Event& event : events) file(event, window_of(event.at_ps));
    });
    digits_used_[level] &= digits_used_[level] - 1;
    if (digits_used_[level] == 0) levels_used_ &= ~(1U << level);
  }

  // Those of the present window before its end; the others are put back. The order of places is
  // that of their first events here: nothing depends on it.
  void lay_out_by_place() {
    SIM_ASSERT((levels_used_ & 1U) != 0);
    EventBlocks::List events = std::exchange(earliest_bucket(), {});
    digits_used_[0] &= digits_used_[0] - 1;
    if (digits_used_[0] == 0) levels_used_ &= ~1U;
    std::size_t all = 0;
    events.for_each([&](std::span<const Event> some) {
      for (const Event& event : some) {
        if (event.at_ps >= end_) {
          file(event, window_);
          continue;
        }
        const std::uint32_t place = place_of(event);
        if (next_slot_[place]++ == 0) visits_.push_back({.place = place, .begin = 0, .end = 0});
        ++all;
      }
    });
    std::uint32_t begin = 0;
    for (Visit& visit : visits_) {
      visit.begin = begin;
      begin += next_slot_[visit.place];
      visit.end = begin;
      next_slot_[visit.place] = visit.begin;
    }
    release_if_large(by_place_, all);
    release_if_large(ordered_, longest_);
    longest_ = 0;
    if (by_place_.size() < all) by_place_.resize(all);
    blocks_.empty(events, [this](std::span<const Event> some) {
      for (const Event& event : some) {
        if (event.at_ps < end_) by_place_[next_slot_[place_of(event)]++] = event;
      }
    });
    for (const Visit& visit : visits_) next_slot_[visit.place] = 0;
  }

  static void release_if_large(std::vector<Event>& events, std::size_t used) {
    const std::size_t had = events.size();
    if (had > kLargeWindow && had / 16 > used) std::vector<Event>().swap(events);
  }

  std::uint64_t factor_;
  std::uint64_t tie_mask_;
  std::uint64_t window_ = 0;  // number of the present one
  std::uint64_t end_ = 0;     // what comes in this window before that is handled in it
  // The visit: its events in their order, from head_ to tail_, but for those that came since the
  // window began and would have had to be put far from the end.
  static constexpr std::uint32_t kNearTheEnd = 24;
  std::uint32_t place_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::uint32_t longest_ = 0;  // the most of ordered_ that a visit of the last window has used
  std::uint64_t last_ = 0;
  std::vector<Event> ordered_;
  WideHeap<Event> others_;
  // The window.
  std::vector<Event> by_place_;
  std::vector<Visit> visits_;
  std::size_t visited_ = 0;
  std::vector<std::uint32_t> next_slot_;  // by place; 0 unless events are being laid out
  // Later windows.
  std::optional<Next> known_next_;
  std::uint32_t levels_used_ = 0;
  std::array<std::uint64_t, kLevels> digits_used_{};
  std::array<EventBlocks::List, kLevels * kDigits> buckets_;
  EventBlocks blocks_;
};

}  // namespace weft
