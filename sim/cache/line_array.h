// The sets of a cache level: tags and states of the lines.
//
// A set is three cache lines of the host: the tags, the states, the times at which lines arrive. A
// load that hits where all lines have arrived touches two of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/cache/interleave.h"
#include "sim/cache/spec.h"
#include "sim/core/huge_pages.h"

namespace weft::cache {

constexpr int kMaxWays = 16;
constexpr unsigned kInstructions = 64;  // told apart in the state of a line

struct Way {
  std::uint16_t valid : 4 = 0;  // sectors
  std::uint16_t dirty : 4 = 0;  // sectors
  std::uint16_t instruction : 6 = 0;
  std::uint16_t used_again : 1 = 0;
};
static_assert(sizeof(Way) == 2);

struct alignas(64) Set {
  std::array<std::uint32_t, kMaxWays> tags{};  // line + 1; 0: none
  std::array<Way, kMaxWays> ways{};
  std::uint64_t order = 0xFEDCBA9876543210;  // the ways, four bits each, the last used lowest
  std::uint32_t last_ready = 0;              // the latest of `ready`
  std::uint32_t draws = 0;                   // of random replacement
  alignas(64) std::array<std::uint32_t, kMaxWays> ready{};  // ticks: when the data have arrived
};
static_assert(sizeof(Set) == 192);
using Sets = std::vector<Set, HugePages<Set>>;

// Times of arrival are kept in ticks of 1.024 ns, rounded up: 4 s fit 32 bits.
constexpr unsigned kTickBits = 10;
constexpr Ps kTimeEnd = Ps{1} << (32U + kTickBits);
constexpr std::uint32_t tick_of(Ps time) { return static_cast<std::uint32_t>(time >> kTickBits); }
constexpr std::uint32_t tick_after(Ps time) { return tick_of(time + (Ps{1} << kTickBits) - 1); }
constexpr Ps time_of(std::uint32_t tick) { return static_cast<Ps>(tick) << kTickBits; }

// The way of a line, or -1. A line stands in one way at most, so the sum is that way's number;
// written without a branch, compilers compare four tags at once.
inline int find(const Set& set, Line line) {
  std::uint32_t found = 0;
  for (std::uint32_t way = 0; way < kMaxWays; ++way) {
    found += static_cast<std::uint32_t>(set.tags[way] == line + 1) * (way + 1);
  }
  return static_cast<int>(found) - 1;
}

inline bool is_pending(const Set& set, int way, Ps now) {
  return set.last_ready > tick_of(now) && set.ready[static_cast<std::size_t>(way)] > tick_of(now);
}

// Makes the way the last used one.
inline void touch(Set& set, int way) {
  if ((set.order & 15U) == static_cast<std::uint64_t>(way)) return;
  constexpr std::uint64_t kOnes = 0x1111111111111111;
  const auto moved = static_cast<std::uint64_t>(way);
  const std::uint64_t differs = set.order ^ (moved * kOnes);
  const std::uint64_t zeros = (differs - kOnes) & ~differs & (kOnes << 3U);
  const auto at = static_cast<unsigned>(std::countr_zero(zeros)) & ~3U;
  const std::uint64_t behind = (~std::uint64_t{0} << at) << 4U;
  const std::uint64_t before = ~(~std::uint64_t{0} << at);
  set.order = (set.order & behind) | ((set.order & before) << 4U) | moved;
}

// The k-th way in the order of replacement; k = 0 goes first.
inline int candidate(const Set& set, int k, int ways, Replacement replacement) {
  if (replacement == Replacement::random) {
    const auto drawn = block_start(set.draws, 32) + static_cast<std::uint32_t>(k);
    return static_cast<int>(drawn % static_cast<std::uint32_t>(ways));
  }
  return static_cast<int>((set.order >> (4U * static_cast<unsigned>(ways - 1 - k))) & 15U);
}

// The way whose line goes next, or -1 where the data of all lines are still on their way.
inline int victim(const Set& set, int ways, Replacement replacement, Ps now) {
  for (int k = 0; k < ways; ++k) {
    const int way = candidate(set, k, ways, replacement);
    if (!is_pending(set, way, now)) return way;
  }
  return -1;
}

// When the first of a set's lines has arrived.
inline Ps first_ready(const Set& set, int ways) {
  return time_of(*std::min_element(set.ready.begin(), set.ready.begin() + ways));
}

inline void set_ready(Set& set, int way, Ps time) {
  std::uint32_t& ready = set.ready[static_cast<std::size_t>(way)];
  ready = std::max(ready, tick_after(time));
  set.last_ready = std::max(set.last_ready, ready);
}

}  // namespace weft::cache
