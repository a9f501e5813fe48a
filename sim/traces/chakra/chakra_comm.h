// Chakra's nodes that communicate: sizes in bytes, only kinds and groups that exist.
#pragma once

#include "sim/traces/chakra/chakra_rank.h"

namespace weft {

struct CommContext {
  const ChakraFile& file;
  const ChakraMeaning& meaning;
  const TraceGroups& groups;
  ChakraSums& sums;
  TraceProblems& problems;
};

// Both set what the node is, and its part. After a problem the node is left as it was.
void read_message(const ChakraNode& node, const CommContext& context, TraceNode& read);
void read_collective(const ChakraNode& node, const CommContext& context, TraceNode& read);

}  // namespace weft
