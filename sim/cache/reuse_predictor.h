// ReusePredictor: whether the lines that an instruction loads are used again before they go.
//
// A counter for each instruction learns from lines that leave the L2. At 0 the instruction's loads
// bypass it, except those of a few sets, which keep training. Less than one line in five used
// again ends at 0: our choice, the paper's rule is not known to us.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/cache/line_array.h"

namespace weft::cache {

class ReusePredictor {
 public:
  ReusePredictor() { counters_.fill(kMax); }

  void learn(Way gone) {
    int& counter = counters_[gone.instruction];
    counter = gone.used_again != 0 ? std::min(counter + kReused, kMax) : std::max(counter - 1, 0);
  }
  [[nodiscard]] bool bypasses(std::uint8_t instruction, std::uint32_t set) const {
    return counters_[instruction] == 0 && set % kTeaching != 0;
  }

 private:
  static constexpr int kMax = 15;
  static constexpr int kReused = 4;
  static constexpr std::uint32_t kTeaching = 32;  // one set in so many
  std::array<int, kInstructions> counters_{};
};

}  // namespace weft::cache
