// A chain of layers shared out among the parts of a pipeline, by the time that each layer takes.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/quantity.h"

namespace weft {

struct Chain {
  Duration before;               // what the first part does besides: the embedding
  std::vector<Duration> layers;  // in their order
  Duration after;                // what the last part does besides: the head
};

// Layers of each part, at least one each but for the first and the last: the part that takes
// longest takes as little as can be, and among such splits the one that takes least takes as much
// as can be. Exact, by dynamic programming; parts x layers^2 steps. `parts` is at most the number
// of layers.
std::vector<std::int64_t> split_evenly(const Chain& chain, int parts);

}  // namespace weft
