// How fast a piece's run goes that lies beside others on its GPUs: slower than by itself while they
// are there. A fluid: exact where the others slow all of the run alike.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/engine/results.h"

namespace weft {

// A run takes so many times as long while it lies beside something, in units of 2^-20.
using Slowdown = std::int64_t;
constexpr Slowdown kAsAlone = Slowdown{1} << 20;

// In [from, until) after a run's start there is something beside it. Not absolute: runs that lie
// beside one another are moved together by what goes more slowly before them.
struct Beside {
  Duration from;  // negative: since before it began
  Duration until;
  Slowdown slowdown = kAsAlone;
  auto operator<=>(const Beside&) const = default;
};

class Pace {
 public:
  Pace() = default;  // as alone

  // Where several things lie beside a run, what each adds is summed.
  explicit Pace(const std::vector<Beside>& beside);

  [[nodiscard]] bool is_as_alone() const { return changes_.empty(); }

  // How long after its start a run has done what it has done after `alone` by itself.
  [[nodiscard]] Duration after(Duration alone) const;

 private:
  struct Change {
    Duration alone;                // how far it has come ...
    Duration after;                // ... so long after its start
    Slowdown slowdown = kAsAlone;  // from here on
  };
  std::vector<Change> changes_;  // the first at 0; empty: none
};

// What a run at this pace does: all that happens in it later, and what takes time, longer by the
// same factor. What its WGs do stays: they are as long in the sums of their times as alone.
RunResult at_pace(RunResult alone, const Pace& pace);
ExitUse at_pace(ExitUse alone, const Pace& pace);

}  // namespace weft
