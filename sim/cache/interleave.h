// Interleave: which of several equal parts (slices, sets, channels, banks) a line belongs to.
//
// Runs of `run` lines are dealt to the parts in turn, a block of as many runs as there are parts at
// a time. Each block begins at another part, so that no stride keeps meeting the same part, and yet
// every stretch of addresses is spread evenly.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/core/assert.h"

namespace weft::cache {

using Line = std::uint32_t;  // an address divided by the length of a line
using Ps = std::int64_t;     // picoseconds since the model started

// Where a request is in time. It joins the queues of everything below the L1 when that lets it go,
// and is served there in this order; it is through when the slowest of them is.
struct Moment {
  Ps joined = 0;
  Ps through = 0;
};

// Among 2^bits parts, where block n begins: the fraction of n golden ratios.
inline std::uint32_t block_start(std::uint32_t n, unsigned bits) {
  constexpr std::uint32_t kGolden = 0x9E3779B1;
  return static_cast<std::uint32_t>(std::uint64_t{n * kGolden} >> (32U - bits));
}

// The same deal among a power of two of parts, run = 1: sets of a cache, banks of a channel.
class Spread {
 public:
  explicit Spread(std::uint32_t parts)
      : bits_(static_cast<unsigned>(std::bit_width(parts)) - 1), mask_(parts - 1) {
    SIM_ASSERT(std::has_single_bit(parts));
  }
  [[nodiscard]] std::uint32_t parts() const { return mask_ + 1; }
  [[nodiscard]] std::uint32_t part(std::uint32_t n) const {
    return (n + block_start(n >> bits_, bits_)) & mask_;
  }
  [[nodiscard]] std::uint32_t local(std::uint32_t n) const { return n >> bits_; }

 private:
  unsigned bits_;
  std::uint32_t mask_;
};

class Interleave {
 public:
  struct Place {
    std::uint32_t part;
    std::uint32_t local;  // the line's number among those of its part
  };

  Interleave(std::uint32_t parts, std::uint32_t run)
      : parts_(parts),
        inverse_(UINT64_MAX / parts + 1),
        run_bits_(static_cast<unsigned>(std::bit_width(run)) - 1) {
    SIM_ASSERT(parts > 1);  // or its inverse does not fit
    SIM_ASSERT(std::has_single_bit(run));
  }

  [[nodiscard]] std::uint32_t parts() const { return parts_; }

  [[nodiscard]] Place place(Line line) const {
    const std::uint32_t run = line >> run_bits_;
    const std::uint32_t block = divided(run);
    std::uint32_t part = run - block * parts_ + start_of(block);
    if (part >= parts_) part -= parts_;
    return {.part = part, .local = (block << run_bits_) | (line & ((1U << run_bits_) - 1))};
  }

  // The other way round.
  [[nodiscard]] Line line_at(const Place& place) const {
    const std::uint32_t block = place.local >> run_bits_;
    std::uint32_t turn = place.part + parts_ - start_of(block);
    if (turn >= parts_) turn -= parts_;
    const std::uint32_t run = block * parts_ + turn;
    return (run << run_bits_) | (place.local & ((1U << run_bits_) - 1));
  }

 private:
  // Division by a number known only at run time, without dividing (Lemire, Kaser, Kurz: Faster
  // remainder by direct computation, 2019).
  [[nodiscard]] std::uint32_t divided(std::uint32_t n) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((static_cast<Wide>(inverse_) * n) >> 64U);
  }
  [[nodiscard]] std::uint32_t start_of(std::uint32_t block) const {
    return static_cast<std::uint32_t>((std::uint64_t{block_start(block, 32)} * parts_) >> 32U);
  }

  std::uint32_t parts_;
  std::uint64_t inverse_;
  unsigned run_bits_;
};

}  // namespace weft::cache
