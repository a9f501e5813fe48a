// One rank's profile and execution trace as a RankTrace: what waits for what is derived from what
// the host did.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/models/recorded_step.h"
#include "sim/scenario/trace_work.h"
#include "sim/traces/chakra/chakra_rank.h"
#include "sim/traces/pytorch/pytorch_et.h"
#include "sim/traces/rank_trace.h"

namespace weft {

struct PytorchSums {
  TraceSummary& summary;
  HostTime host = HostTime::drop;
  Counts counts = {};
  Duration collectives{};  // recorded times of the library's kernels, which are not used
  std::size_t beside = 0;  // kernels that ran concurrently with others ...
  Duration beside_time{};  // ... and their recorded time
  RecordedStep step = {};  // as said there ...
  std::optional<Duration> step_waited = {};  // ... of the rank whose collectives took so long
};

// `et` may be null if the profile says what its collectives move.
RankTrace read_pytorch_rank(const KinetoFile& profile, const PytorchEt* et,
                            const TraceGroups& groups, PytorchSums& sums, TraceProblems& problems);

}  // namespace weft
