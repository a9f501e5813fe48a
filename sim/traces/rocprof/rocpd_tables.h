// A database of rocprofv3, in the schemas 3 and 4.1 of rocpd (4.0 has its times elsewhere).
#pragma once

#include <cstdint>
#include <string>

#include "sim/traces/nodes/node_profiles.h"

namespace weft {

// As read_rocprof(). One file has the tables of a process, or, merged, of several.
NodeProcesses read_rocpd(std::string& bytes, const std::string& name, std::int64_t element_bytes,
                         TraceProblems& problems);

}  // namespace weft
