#include "sim/traces/pytorch/pytorch_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/collectives/collective.h"
#include "sim/traces/totals.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

// Names as c10d and its back ends write them, without underscores.
struct CallName {
  std::string_view word;
  CollectiveOp op;
};
constexpr std::array kNames = {
    CallName{"allreduce", CollectiveOp::all_reduce},
    CallName{"allreducecoalesced", CollectiveOp::all_reduce},
    CallName{"allgather", CollectiveOp::all_gather},
    CallName{"allgatherbase", CollectiveOp::all_gather},
    CallName{"allgatherintotensor", CollectiveOp::all_gather},
    CallName{"allgatherintotensorcoalesced", CollectiveOp::all_gather},
    CallName{"reducescatter", CollectiveOp::reduce_scatter},
    CallName{"reducescatterbase", CollectiveOp::reduce_scatter},
    CallName{"reducescattertensor", CollectiveOp::reduce_scatter},
    CallName{"reducescattertensorcoalesced", CollectiveOp::reduce_scatter},
    CallName{"alltoall", CollectiveOp::all_to_all},
    CallName{"alltoallv", CollectiveOp::all_to_all},
    CallName{"alltoallbase", CollectiveOp::all_to_all},
    CallName{"broadcast", CollectiveOp::broadcast},
    CallName{"barrier", CollectiveOp::all_reduce},
    CallName{"send", CollectiveOp::point_to_point},
    CallName{"recv", CollectiveOp::point_to_point},
};

std::string plain_name(std::string_view name) {
  std::string word;
  std::copy_if(name.begin(), name.end(), std::back_inserter(word), [](char c) { return c != '_'; });
  return word;
}

class NodeMaker {
 public:
  NodeMaker(const CommCall& call, std::uint32_t rank, const std::string& file,
            const TraceGroups& groups, PytorchSums& sums, TraceProblems& problems)
      : call_(call), rank_(rank), file_(file), groups_(groups), sums_(sums), problems_(problems) {}

  std::optional<TraceNode> make() {
    const std::string word = plain_name(call_.name);
    const auto known = std::find_if(kNames.begin(), kNames.end(),
                                    [&word](const CallName& name) { return name.word == word; });
    if (known == kNames.end()) {
      return wrong("name", fmt::format("'{}': weft simulates all_reduce, all_gather, "
                                       "reduce_scatter, all_to_all, broadcast, send and recv",
                                       call_.name));
    }
    const auto group = group_of();
    if (!group) return std::nullopt;
    const auto& members = groups_.ranks[*group];
    if (std::find(members.begin(), members.end(), rank_) == members.end()) {
      return wrong("group", fmt::format("rank {} is not in group '{}'", rank_, call_.group));
    }
    TraceNode node{.label = call_.label,
                   .name = call_.name,
                   .part = name_of(known->op),
                   .what = PassNode{},
                   .after = {}};
    if (members.size() < 2) {
      ++sums_.counts["collectives of a single rank, which send nothing"];
      return node;
    }
    const auto size = size_of(word == "barrier");
    if (!size) return std::nullopt;
    if (known->op == CollectiveOp::point_to_point) {
      return make_message(node, word == "send", *group, *size);
    }
    return make_collective(node, known->op, *group, *size);
  }

 private:
  std::optional<TraceNode> wrong(const char* field, std::string message) {
    problems_.add(file_, fmt::format("{}: {}", call_.label, field), std::move(message));
    return std::nullopt;
  }

  std::optional<std::uint32_t> group_of() {
    const auto found = groups_.by_name.find(call_.group);
    if (found != groups_.by_name.end()) return found->second;
    wrong("group", fmt::format("'{}' is not listed, and it is not the only group, so "
                               "its ranks are unknown",
                               call_.group));
    return std::nullopt;
  }

  std::optional<std::int64_t> size_of(bool barrier) {
    constexpr std::int64_t kBarrierBytes = 4;
    if (barrier) return kBarrierBytes;
    // Of an uneven all-to-all a rank may only receive.
    const bool some = call_.elements > 0 || (call_.elements == 0 && !call_.splits.empty());
    const bool known = some && call_.element_bytes > 0;
    if (known && call_.elements <= trace_limits::kBytes / call_.element_bytes) {
      return call_.elements * call_.element_bytes;
    }
    wrong("size", fmt::format("{} elements of {} B; must be more than 0 B and at most {} B",
                              call_.elements, call_.element_bytes, trace_limits::kBytes));
    return std::nullopt;
  }

  std::optional<TraceNode> make_message(TraceNode node, bool sends, std::uint32_t group,
                                        std::int64_t size) {
    const std::vector<std::uint32_t>& members = groups_.ranks[group];
    if (call_.peer < 0 || call_.peer >= static_cast<std::int64_t>(members.size())) {
      return wrong("rank",
                   fmt::format("{}, but the group has {} ranks", call_.peer, members.size()));
    }
    const std::uint32_t peer = members[static_cast<std::size_t>(call_.peer)];
    node.part = "send";
    node.what = MessageNode{.end = sends ? MessageNode::End::send : MessageNode::End::receive,
                            .source = sends ? rank_ : peer,
                            .target = sends ? peer : rank_,
                            .group = group,
                            .size = bytes(size)};
    count(node.part, sends ? size : 0);
    return node;
  }

  std::optional<TraceNode> make_collective(TraceNode node, CollectiveOp op, std::uint32_t group,
                                           std::int64_t size) {
    const auto ranks = static_cast<std::int64_t>(groups_.ranks[group].size());
    const std::int64_t blocks = op == CollectiveOp::all_gather ? ranks : 1;
    if (size > trace_limits::kBytes / blocks) return wrong("size", "too large in total");
    CollectiveNode made{.group = group, .op = op, .buffer = bytes(size * blocks), .sends = {}};
    if (op == CollectiveOp::all_to_all && !set_splits(made, ranks)) return std::nullopt;
    if (op == CollectiveOp::broadcast) {
      ++sums_.counts["broadcasts, assumed to start at the group's first rank"];
    }
    count(node.part, size);
    node.what = std::move(made);
    return node;
  }

  // Splits count rows of the tensor; equal ones are an even all-to-all.
  bool set_splits(CollectiveNode& made, std::int64_t ranks) {
    const std::vector<std::int64_t>& splits = call_.splits;
    if (splits.empty()) return true;
    std::int64_t rows = 0;
    for (const std::int64_t split : splits) {
      if (split < 0 || split > call_.elements - rows) rows = INT64_MAX;
      if (rows == INT64_MAX) break;
      rows += split;
    }
    const bool whole_rows = rows == 0 ? call_.elements == 0 : call_.elements % rows == 0;
    const bool fits =
        static_cast<std::int64_t>(splits.size()) == ranks && rows != INT64_MAX && whole_rows;
    if (!fits) {
      wrong("splits",
            fmt::format(
                "{} of them; there must be one for each of {} ranks, and together they must make "
                "up the rows of the {} elements",
                splits.size(), ranks, call_.elements));
      return false;
    }
    const bool even = std::all_of(splits.begin(), splits.end(),
                                  [&](std::int64_t split) { return split == splits.front(); });
    if (even) return true;
    const std::int64_t row = call_.elements / rows * call_.element_bytes;
    for (const std::int64_t split : splits) made.sends.push_back(split * row);
    return true;
  }

  void count(const std::string& kind, std::int64_t size) {
    TraceTotal& total = sums_.summary.by_kind[kind];
    ++total.nodes;
    add_bytes(total.bytes_found, size);
  }

  const CommCall& call_;
  std::uint32_t rank_;
  const std::string& file_;
  const TraceGroups& groups_;
  PytorchSums& sums_;
  TraceProblems& problems_;
};

}  // namespace

std::optional<TraceNode> collective_node(const CommCall& call, std::uint32_t rank,
                                         const std::string& file, const TraceGroups& groups,
                                         PytorchSums& sums, TraceProblems& problems) {
  return NodeMaker(call, rank, file, groups, sums, problems).make();
}

}  // namespace weft
