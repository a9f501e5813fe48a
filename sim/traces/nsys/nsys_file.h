// A report of Nsight Systems, exported to SQLite: all processes of a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// A rank's place in a communicator of NCCL, from the call that made it.
struct NcclMember {
  std::string communicator;
  std::int64_t ranks = 0;
  std::int64_t rank = 0;
  std::int64_t device = 0;
};

// What one GPU did for one process.
struct NsysProfile {
  KinetoFile profile;
  std::vector<NcclMember> members;
};

// Ordered by GPU, then by process. NVTX ranges with shapes have elements of `element_bytes`.
std::vector<NsysProfile> read_nsys(std::string& bytes, const std::string& name,
                                   std::int64_t element_bytes, TraceProblems& problems);

}  // namespace weft
