// Which nodes of several ranks are one operator: collectives and messages.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/traces/rank_trace.h"

namespace weft {

struct NodeAt {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  bool operator==(const NodeAt&) const = default;
};

// An operator to be: one node, or the nodes of all ranks that meet.
struct Meeting {
  std::vector<NodeAt> members;  // by rank of the group; a message's sender and receiver
  CommunicationShape shape;
  std::vector<std::uint32_t> ranks;
};

// Problems: ranks whose collectives differ in number, kind, size; ends of messages without another.
std::vector<Meeting> find_meetings(const std::vector<RankTrace>& ranks, const TraceGroups& groups,
                                   TraceProblems& problems);

}  // namespace weft
