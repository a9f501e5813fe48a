// One rank's Chakra nodes as the nodes of a RankTrace: sizes in bytes, kinds that weft knows,
// dependencies by index. Whatever the trace leaves open is decided here and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "sim/traces/chakra/chakra_file.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// TraceWork with nothing left open.
struct ChakraMeaning {
  std::int64_t unit = 1;  // bytes per unit of comm_size
  AllGatherSize allgather = AllGatherSize::per_rank;
  CpuOps cpu_ops = CpuOps::drop;
  WaitFor waits_for = WaitFor::data;
  int gpus = 0;
  bool one_for_all = false;
};

// How often something was read differently from how it is written, by what it is; for the summary.
using Counts = std::map<std::string, std::size_t>;

struct ChakraSums {
  TraceSummary& summary;
  Counts counts;
};

RankTrace read_rank(const ChakraFile& file, const ChakraMeaning& meaning, const TraceGroups& groups,
                    ChakraSums& sums, TraceProblems& problems);

}  // namespace weft
