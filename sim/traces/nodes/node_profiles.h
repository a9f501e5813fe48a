// What recorders that see whole nodes wrote, Nsight Systems or rocprofv3: the processes of a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/traces/nodes/nccl_calls.h"
#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// A rank's place in a communicator of NCCL, from the call that made it.
struct NcclMember {
  std::string communicator;
  std::int64_t ranks = 0;
  std::int64_t rank = 0;
  std::int64_t device = 0;
};

struct NodeProcess {
  KinetoFile events;
  std::vector<NcclRange> nccl;
  std::vector<NcclMember> members;
  std::string note = {};  // what had to be assumed to read it, or empty
};
using NodeProcesses = std::map<std::int64_t, NodeProcess>;  // by process

// What one GPU did for one process.
struct NodeProfile {
  KinetoFile profile;
  std::vector<NcclMember> members;
};

// Ordered by GPU, then by process.
std::vector<NodeProfile> profiles_of(NodeProcesses&& processes, TraceProblems& problems);

}  // namespace weft
