// A latch during a run, in 8 bytes: there are millions. While it is closed, these hold how often it
// is still counted down and who waits for it; once it is open, since when (0: nobody polls it).
#pragma once

#include <cstdint>

#include "sim/core/assert.h"
#include "sim/core/quantity.h"

namespace weft {

class LatchState {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  explicit LatchState(std::uint32_t target) : word_(std::uint64_t{target} << 32U | kNobody) {
    SIM_ASSERT(target > 0);
    SIM_ASSERT(!is_open());
  }

  [[nodiscard]] bool is_open() const { return (word_ & kOpen) != 0; }
  // How often it is still counted down until it opens.
  [[nodiscard]] std::uint32_t left() const {
    return is_open() ? 0 : static_cast<std::uint32_t>(word_ >> 32U);
  }
  // True if that was the last time: it is to be opened.
  bool count_down() {
    SIM_ASSERT(left() > 0);
    word_ -= std::uint64_t{1} << 32U;
    return word_ >> 32U == 0;
  }
  void open(SimTime at) {
    SIM_ASSERT(word_ >> 32U == 0);
    SIM_ASSERT(at.count() >= 0);
    word_ = static_cast<std::uint64_t>(at.count()) | kOpen;
  }
  [[nodiscard]] SimTime opened() const {
    SIM_ASSERT(is_open());
    return SimTime::from_count(static_cast<std::int64_t>(word_ & ~kOpen));
  }

  // While it is closed: the first of those who wait for it.
  [[nodiscard]] std::uint32_t waiter() const {
    SIM_ASSERT(!is_open());
    return static_cast<std::uint32_t>(word_);
  }
  void await(std::uint32_t waiter) {
    SIM_ASSERT(!is_open());
    word_ = (word_ & ~std::uint64_t{UINT32_MAX}) | waiter;
  }

 private:
  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 63U;
  std::uint64_t word_;
};
static_assert(sizeof(LatchState) == 8);

}  // namespace weft
