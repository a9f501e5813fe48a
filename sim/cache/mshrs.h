// Mshrs: how many misses of a slice wait for their data.
//
// Counts of those that end in each tick of 8.192 ns, in a ring that begins at the present: taking
// one is an addition, and time passing adds up what ends meanwhile. A miss whose data come later
// than the ring reaches (16.8 us) counts as ended there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/cache/interleave.h"

namespace weft::cache {

class Mshrs {
 public:
  Mshrs(std::size_t slices, int of_slice)
      : capacity_(static_cast<std::uint32_t>(of_slice)),
        slices_(slices),
        ending_(slices * kTicks) {}

  // When one is free: `now`, or a tick after it.
  Ps free_at(std::uint32_t slice, Ps now) {
    pass_time(slice, now);
    Slice& state = slices_[slice];
    if (state.taken < capacity_) return now;
    std::uint64_t tick = state.tick;
    while (ending_[index(slice, tick + 1)] == 0) ++tick;
    return static_cast<Ps>(tick + 1) << kTickBits;
  }
  // One that is free at `now`, until `until`.
  void take(std::uint32_t slice, Ps until) {
    Slice& state = slices_[slice];
    const std::uint64_t end = (static_cast<std::uint64_t>(until) >> kTickBits) + 1;
    if (end <= state.tick) return;
    ++ending_[index(slice, std::min(end, state.tick + kTicks - 1))];
    ++state.taken;
  }

 private:
  static constexpr unsigned kTickBits = 13;
  static constexpr std::uint64_t kTicks = 2048;
  struct Slice {
    std::uint64_t tick = 0;
    std::uint32_t taken = 0;
  };

  [[nodiscard]] static std::size_t index(std::uint32_t slice, std::uint64_t tick) {
    return slice * kTicks + (tick & (kTicks - 1));
  }
  void pass_time(std::uint32_t slice, Ps now) {
    Slice& state = slices_[slice];
    const std::uint64_t tick = static_cast<std::uint64_t>(now) >> kTickBits;
    for (; state.tick < tick && state.taken > 0; ++state.tick) {
      std::uint16_t& ended = ending_[index(slice, state.tick + 1)];
      state.taken -= ended;
      ended = 0;
    }
    state.tick = std::max(state.tick, tick);
  }

  std::uint32_t capacity_;
  std::vector<Slice> slices_;
  std::vector<std::uint16_t> ending_;  // MSHRs, of each slice and tick
};

}  // namespace weft::cache
