// Calls of NCCL in a process, from its NVTX ranges, and the kernels that they launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

struct NcclRange {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::string name;          // "ncclAllReduce", "ncclGroupEnd"
  std::string communicator;  // empty: the range has no payload
  std::int64_t bytes = -1;   // -1: the same
  std::int64_t peer = -1;
};

// Gives the library's kernels their calls: of the range that they were launched in, or, if that is
// ncclGroupEnd, of the group that it ends; several messages of one kernel are a call with others.
// Each kernel's launch becomes an event of the host that communicates. Kernels whose sizes are in
// no range have no call afterwards.
void add_nccl_calls(KinetoFile& process, std::vector<NcclRange> ranges, TraceProblems& problems);

}  // namespace weft
