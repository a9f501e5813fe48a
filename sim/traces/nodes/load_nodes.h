// Profiles of whole nodes as a workload.
#pragma once

#include <cstdint>
#include <string>

#include "sim/traces/load_trace.h"
#include "sim/traces/nodes/node_profiles.h"

namespace weft {

struct NodeRecorder {
  const char* name;
  const char* ending;        // of its files
  const char* other_ending;  // of those that have the same in another format; none: null
  const char* writes;        // the command that makes them
  const char* sizes;         // how to get the sizes of collectives into them
  // Of one file; elements of shapes that do not say their type have `element_bytes`.
  NodeProcesses (*read)(std::string& bytes, const std::string& name, std::int64_t element_bytes,
                        TraceProblems& problems);
};

// A file, or a folder of them, in the order of the numbers in their names.
LoadedTrace load_nodes(const TraceWork& work, int gpus, Bytes memory, const NodeRecorder& recorder);

}  // namespace weft
