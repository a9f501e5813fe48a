// A file of rocprofv3 (ROCprofiler-SDK) in its JSON format: `rocprofv3 --kernel-trace
// --memory-copy-trace --hip-runtime-trace --rccl-trace --marker-trace --output-format json`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/traces/nodes/node_profiles.h"

namespace weft {

// Its processes. What is missing or of another form is a problem. ROCTx ranges with shapes have
// elements of `element_bytes`.
NodeProcesses read_rocprof(std::string_view text, const std::string& name,
                           std::int64_t element_bytes, TraceProblems& problems);

}  // namespace weft
