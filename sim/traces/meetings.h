// Which nodes of several ranks form one operator: collectives and messages.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/traces/rank_trace.h"

namespace weft {

// A future operator that communicates, with the nodes of all ranks that take part.
struct Meeting {
  std::vector<NodeAt> members;  // by rank of the group; for a message: sender and receiver
  CommunicationShape shape;
  std::vector<std::uint32_t> ranks;
};

// Problems: ranks whose collectives differ in number, kind or size; messages with only one end.
std::vector<Meeting> find_meetings(const std::vector<RankTrace>& ranks, const TraceGroups& groups,
                                   TraceProblems& problems);

}  // namespace weft
