// A file of rocprofv3 (ROCprofiler-SDK): `rocprofv3 --kernel-trace --memory-copy-trace
// --hip-runtime-trace --rccl-trace --marker-trace`, which writes a database (rocpd, the default
// since ROCm 7) or, with `--output-format json`, JSON.
#pragma once

#include <cstdint>
#include <string>

#include "sim/traces/nodes/node_profiles.h"

namespace weft {

// Its processes. What is missing or of another form is a problem. ROCTx ranges with shapes have
// elements of `element_bytes`.
NodeProcesses read_rocprof(std::string& bytes, const std::string& name, std::int64_t element_bytes,
                           TraceProblems& problems);

}  // namespace weft
