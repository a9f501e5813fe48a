// The tables of an exported report, row by row, as events of its processes.
#pragma once

#include <cstdint>
#include <string>

#include "sim/traces/nodes/node_profiles.h"
#include "sim/traces/sqlite.h"

namespace weft {

// Reads all tables that matter. Missing ones and what cannot be read are problems. NVTX ranges with
// shapes have elements of `element_bytes`.
NodeProcesses read_tables(SqliteFile& file, const std::string& name, std::int64_t element_bytes,
                          TraceProblems& problems);

}  // namespace weft
