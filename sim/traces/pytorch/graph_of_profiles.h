// Profiles of all ranks, whoever recorded them, as a ModelGraph and what is said of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "sim/scenario/trace_work.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/pytorch/kineto_file.h"
#include "sim/traces/pytorch/pytorch_et.h"

namespace weft {

struct RankProfiles {
  std::string writer;                           // "Kineto profiles"
  std::map<std::int64_t, KinetoFile> profiles;  // by rank; one for each
  std::map<std::int64_t, PytorchEt> et;         // by rank; none: profiles say what is moved
  std::size_t left_out = 0;                     // kernels of before (drop_unlaunched)
  bool names_are_shared = false;                // a group's name means the same on all ranks
};

// Fills graph and summary of `loaded`, unless there are problems.
void graph_of_profiles(const TraceWork& work, int gpus, const RankProfiles& ranks,
                       TraceProblems& problems, LoadedTrace& loaded);

}  // namespace weft
