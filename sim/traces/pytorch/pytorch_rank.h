// One rank's profile and execution trace as a RankTrace: what waits for what follows from what the
// host did.
#pragma once

#include <cstdint>

#include "sim/traces/chakra/chakra_rank.h"
#include "sim/traces/pytorch/pytorch_et.h"
#include "sim/traces/rank_trace.h"

namespace weft {

struct PytorchSums {
  TraceSummary& summary;
  Counts counts = {};
  Duration collectives{};    // recorded times of the library's kernels, which are not used
  std::size_t beside = 0;    // kernels that ran beside others ...
  Duration beside_time{};    // ... and their recorded time
  std::int64_t span_ns = 0;  // of the longest rank: first kernel's start to the last one's end
};

// `et` may be null where the profile says what its collectives move.
RankTrace read_pytorch_rank(const KinetoFile& profile, const PytorchEt* et,
                            const TraceGroups& groups, PytorchSums& sums, TraceProblems& problems);

}  // namespace weft
