// Event queue: one total order of 16-byte events, (time, content).
//
// A radix heap with digits of 4 bits: simulated time never runs backwards, so events are kept by
// the highest digit in which their time differs from the last one popped, and move at most once per
// digit. It is exact, has nothing to tune, and its cost is nearly flat from 10^2 to 10^6 pending
// events (docs/performance.md).
//
// Ties are broken by content, never by order of insertion: who schedules first does not matter, so
// any engine that keeps (time, content) gives the same history.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/quantity.h"

namespace weft {

struct Event {
  std::uint64_t at_ps = 0;
  std::uint64_t content = 0;  // what happens, and to whom; orders events of one instant
  auto operator<=>(const Event&) const = default;
  // As of one number of 128 bits: without a branch that nobody can predict.
  friend bool operator<(const Event& a, const Event& b) { return a.as_one() < b.as_one(); }
  friend bool operator>(const Event& a, const Event& b) { return b < a; }

 private:
  __extension__ using Wide = unsigned __int128;
  [[nodiscard]] Wide as_one() const { return Wide{at_ps} << 64U | content; }
};
static_assert(sizeof(Event) == 16);

class EventQueue {
 public:
  // A `tie_shuffle` other than 0 replaces the order of events of one instant by another, for tests:
  // results that then differ depend on an unspecified order.
  explicit EventQueue(std::uint64_t tie_shuffle = 0) : tie_mask_(tie_shuffle) {}

  void push(SimTime at, std::uint64_t content) {
    SIM_ASSERT(at.count() >= 0);
    const Event event{static_cast<std::uint64_t>(at.count()), content ^ tie_mask_};
    SIM_ASSERT(event.at_ps >= last_);
    ++size_;
    if (event.at_ps == last_) {
      now_.push_back(event);
      std::push_heap(now_.begin(), now_.end(), std::greater<>{});
    } else {
      file(event);
    }
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // True if another event of the instant of the last pop is pending.
  [[nodiscard]] bool more_now() const { return !now_.empty(); }

  Event pop() {
    SIM_ASSERT(size_ > 0);
    --size_;
    if (now_.empty()) advance();
    std::pop_heap(now_.begin(), now_.end(), std::greater<>{});
    Event event = now_.back();
    now_.pop_back();
    SIM_ASSERT(event.at_ps == last_);
    event.content ^= tie_mask_;
    return event;
  }

 private:
  static constexpr unsigned kBits = 4;
  static constexpr unsigned kDigits = 1U << kBits;
  static constexpr unsigned kLevels = 64 / kBits;

  void file(const Event& event) {
    const auto top_bit = static_cast<unsigned>(std::bit_width(event.at_ps ^ last_)) - 1;
    const unsigned level = top_bit / kBits;
    const unsigned digit = static_cast<unsigned>(event.at_ps >> (level * kBits)) & (kDigits - 1);
    buckets_[level * kDigits + digit].push_back(event);
    digits_used_[level] |= 1U << digit;
    levels_used_ |= 1U << level;
  }

  // Makes the earliest pending instant the current one and redistributes the rest of its bucket.
  void advance() {
    const auto level = static_cast<unsigned>(std::countr_zero(levels_used_));
    const auto digit = static_cast<unsigned>(std::countr_zero(digits_used_[level]));
    digits_used_[level] &= ~(1U << digit);
    if (digits_used_[level] == 0) levels_used_ &= ~(1U << level);

    std::vector<Event>& bucket = buckets_[level * kDigits + digit];
    if (bucket.size() == 1) {
      last_ = bucket.front().at_ps;
      now_.push_back(bucket.front());
    } else {
      last_ = bucket.front().at_ps;
      for (const Event& event : bucket) last_ = std::min(last_, event.at_ps);
      for (const Event& event : bucket) {
        if (event.at_ps == last_) {
          now_.push_back(event);
        } else {
          file(event);  // differs from last_ only in a lower digit: never into this bucket
        }
      }
      std::make_heap(now_.begin(), now_.end(), std::greater<>{});
    }
    bucket.clear();
  }

  std::uint64_t tie_mask_;
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;
  std::uint32_t levels_used_ = 0;
  std::array<std::uint32_t, kLevels> digits_used_{};
  std::vector<Event> now_;  // events of the current instant, a heap by content
  std::array<std::vector<Event>, kLevels * kDigits> buckets_;
};

}  // namespace weft
