// The latches of a task graph, in five bytes each: there are millions, and few are counted down
// often.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/by_index.h"
#include "sim/core/ids.h"

namespace weft {

using LatchId = StrongId<struct LatchTag>;

struct Latch {
  std::uint32_t target = 0;      // how often it is counted down until it opens
  std::uint32_t first_send = 0;  // its sends are those before the next latch's
};

class Latches {
 public:
  LatchId push_back(const Latch& latch) {
    const LatchId id = next_id();
    SIM_ASSERT(!id.is_none());
    if (latch.target >= kLarge) large_.push_back({.latch = id.value, .target = latch.target});
    targets_.push_back(static_cast<std::uint8_t>(std::min(latch.target, kLarge)));
    first_sends_.push_back(latch.first_send);
    return id;
  }
  [[nodiscard]] LatchId next_id() const {
    return LatchId(static_cast<std::uint32_t>(first_sends_.size()));
  }
  void reserve(std::size_t latches) {
    targets_.reserve(latches);
    first_sends_.reserve(latches);
  }

  [[nodiscard]] std::size_t size() const { return first_sends_.size(); }
  [[nodiscard]] bool empty() const { return first_sends_.empty(); }
  [[nodiscard]] std::uint32_t first_send(LatchId id) const { return first_sends_[id.value]; }
  [[nodiscard]] Latch operator[](LatchId id) const {
    return {.target = target(id), .first_send = first_send(id)};
  }

  using Index = LatchId;
  using Iterator = ByIndex<Latches>;
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, next_id().value}; }

  // All that there is, for keys by content.
  [[nodiscard]] std::span<const std::uint32_t> first_sends() const { return first_sends_; }
  [[nodiscard]] std::span<const std::uint8_t> small_targets() const { return targets_; }
  struct LargeTarget {
    std::uint32_t latch = 0;
    std::uint32_t target = 0;
  };
  [[nodiscard]] std::span<const LargeTarget> large_targets() const { return large_; }

 private:
  static constexpr std::uint32_t kLarge = std::numeric_limits<std::uint8_t>::max();

  [[nodiscard]] std::uint32_t target(LatchId id) const {
    const std::uint8_t small = targets_[id.value];
    if (small < kLarge) return small;
    return std::lower_bound(large_.begin(), large_.end(), id.value,
                            [](const LargeTarget& a, std::uint32_t b) { return a.latch < b; })
        ->target;
  }

  std::vector<std::uint32_t> first_sends_;
  std::vector<std::uint8_t> targets_;  // kLarge: in large_
  std::vector<LargeTarget> large_;     // by latch
};

}  // namespace weft
