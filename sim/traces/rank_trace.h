// What a rank of a recorded trace does, in the same form for all recorders, and how the ranks'
// traces become one ModelGraph (merge_ranks.cc).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/traces/problems.h"

namespace weft {

// A node that takes no time; its successors wait for its predecessors.
struct PassNode {};

struct ComputeNode {
  OpShape shape;
  std::uint32_t lane = 0;  // the recorded stream, numbered from 0 by rank
};

// The rank's part of a collective of its group. The k-th ones on all ranks are the same collective.
struct CollectiveNode {
  std::uint32_t group = 0;  // of TraceGroups
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes buffer;  // as in CommunicationShape
  std::uint32_t root = 0;
  std::vector<std::int64_t> sends;  // uneven all-to-all: to each rank of the group; else empty
};

// One end of a message; ends are matched by group, source, target and tag, in order.
struct MessageNode {
  enum class End : std::uint8_t { send, receive };
  End end = End::send;
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::int64_t tag = 0;
  std::uint32_t group = 0;  // of TraceGroups
  Bytes size;
  bool meets = false;  // as in CommunicationShape; one end says it for both
};

struct TraceNode {
  std::string label;  // for messages: "node 61 'conv3_ALLREDUCE'"
  std::string name;
  std::string part;
  std::variant<PassNode, ComputeNode, CollectiveNode, MessageNode> what;
  std::vector<std::uint32_t> after;  // indices of nodes of the same rank; may be later in `nodes`
};

// Where an operator stands in the model that a trace was exported from.
struct ModelPosition {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t block = kNone;  // Block of model_graph.h, by number
  std::uint32_t op = 0;         // its number in the model, the same on all ranks
  auto operator<=>(const ModelPosition&) const = default;
};

struct RankTrace {
  std::string file;
  std::vector<TraceNode> nodes;  // in program order
  // By node, if known: of all nodes that take time, in ascending order. May be shorter than
  // `nodes`.
  std::vector<ModelPosition> positions = {};

  [[nodiscard]] ModelPosition position_of(std::size_t node) const {
    return node < positions.size() ? positions[node] : ModelPosition{};
  }
};

// Group 0 is all ranks.
struct TraceGroups {
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<std::string> names;
  std::map<std::string, std::uint32_t> by_name;
};
TraceGroups groups_of_all(int ranks);
std::uint32_t add_group(TraceGroups& groups, const std::string& name,
                        const std::vector<std::uint32_t>& ranks);

struct NodeAt {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;  // index in the rank's nodes
  bool operator==(const NodeAt&) const = default;
};

struct MergedRanks {
  ModelGraph graph;
  std::size_t out_of_order = 0;  // operators that had to overtake others of their stream
  std::vector<std::vector<NodeAt>> made_from = {};  // by operator, if asked for
};
enum class MadeFrom : std::uint8_t { forget, keep };

// Joins the ranks' nodes into operators. Program order holds on each stream: computing lanes of a
// rank, and one stream for each set of GPUs that communicate. It is broken only where the trace
// would deadlock otherwise. If nodes say where they stand in a model the operators have its blocks
// and stand in its order; it is a problem if some do not say it, if ends that meet differ, or if
// that is no order in which they can run. With one trace and `gpus` above 1 the trace stands for
// all GPUs. Which nodes an operator was made from is forgotten unless it is to be kept.
MergedRanks merge_ranks(std::vector<RankTrace> ranks, const TraceGroups& groups, int gpus,
                        TraceProblems& problems, MadeFrom made_from = MadeFrom::forget);

}  // namespace weft
