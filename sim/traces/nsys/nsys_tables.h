// The tables of an exported report, row by row, as events of its processes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/traces/nsys/nccl_calls.h"
#include "sim/traces/nsys/nsys_file.h"
#include "sim/traces/nsys/sqlite.h"

namespace weft {

struct NsysProcess {
  KinetoFile events;
  std::vector<NcclRange> nccl;
  std::vector<NcclMember> members;
};
using NsysProcesses = std::map<std::int64_t, NsysProcess>;  // by process

// Reads all tables that matter. Missing ones and what cannot be read are problems.
NsysProcesses read_tables(SqliteFile& file, const std::string& name, std::int64_t element_bytes,
                          TraceProblems& problems);

}  // namespace weft
