#include "sim/traces/chakra/chakra_comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sim/collectives/collective.h"
#include "sim/traces/totals.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

// Indexed by the number of comm_type.
struct CommKind {
  const char* name;
  std::optional<CollectiveOp> op;
};
constexpr std::int64_t kBarrier = 9;
constexpr std::array kCommKinds = {
    CommKind{"ALL_REDUCE", CollectiveOp::all_reduce},
    CommKind{"REDUCE", std::nullopt},
    CommKind{"ALL_GATHER", CollectiveOp::all_gather},
    CommKind{"GATHER", std::nullopt},
    CommKind{"SCATTER", std::nullopt},
    CommKind{"BROADCAST", CollectiveOp::broadcast},
    CommKind{"ALL_TO_ALL", CollectiveOp::all_to_all},
    CommKind{"REDUCE_SCATTER", CollectiveOp::reduce_scatter},
    CommKind{"REDUCE_SCATTER_BLOCK", CollectiveOp::reduce_scatter},
    CommKind{"BARRIER", CollectiveOp::all_reduce},
};

class CommReader {
 public:
  explicit CommReader(const CommContext& context)
      : file_(context.file),
        meaning_(context.meaning),
        groups_(context.groups),
        sums_(context.sums),
        problems_(context.problems) {}

  void message(const ChakraNode& node, TraceNode& read) {
    const std::optional<std::int64_t> size = comm_size(node);
    if (!node.comm_source) wrong(node, "comm_src", "missing; the rank that sends");
    if (!node.comm_target) wrong(node, "comm_dst", "missing; the rank that receives");
    if (!size || !node.comm_source || !node.comm_target) return;
    if (meaning_.one_for_all) {
      return wrong(node, "type",
                   "a message from rank to rank, but one_for_all is for traces in which "
                   "all ranks do the same");
    }
    MessageNode made;
    const bool sends = node.kind == ChakraKind::send;
    made.end = sends ? MessageNode::End::send : MessageNode::End::receive;
    made.source = rank_of(*node.comm_source);
    made.target = rank_of(*node.comm_target);
    made.tag = node.comm_tag.value_or(0);
    made.size = bytes(*size);
    made.meets = node.meets;
    read.part = "send";
    read.what = made;
    count_bytes(read.part, sends ? *size : 0);
  }

  void collective(const ChakraNode& node, TraceNode& read) {
    if (!node.comm_type || *node.comm_type >= static_cast<std::int64_t>(kCommKinds.size())) {
      return wrong(node, "comm_type", "missing or unknown; one of 0 (ALL_REDUCE) to 9 (BARRIER)");
    }
    const CommKind& kind = kCommKinds[static_cast<std::size_t>(*node.comm_type)];
    if (!kind.op) {
      return wrong(node, "comm_type",
                   fmt::format("{}: weft simulates all_reduce, all_gather, reduce_scatter, "
                               "all_to_all, broadcast and messages from rank to rank",
                               kind.name));
    }
    const std::optional<std::uint32_t> group = group_of(node);
    std::optional<std::int64_t> size = kBarrierBytes;
    if (*node.comm_type == kBarrier) count("barriers, taken as an all-reduce of 4 bytes");
    if (*node.comm_type != kBarrier) size = comm_size(node);
    if (!group || !size) return;
    const std::int64_t ranks = ranks_of(*group);
    if (ranks < 2) return count("collectives of a single rank, which send nothing");
    CollectiveNode made{.group = *group, .op = *kind.op, .buffer = {}, .sends = {}};
    if (!set_buffer(node, *size, ranks, made) || !set_root(node, ranks, made)) return;
    read.part = name_of(made.op);
    read.what = made;
    count_bytes(read.part, *size);
  }

 private:
  static constexpr std::int64_t kBarrierBytes = 4;

  void wrong(const ChakraNode& node, const char* field, std::string message) {
    problems_.add(file_.name, fmt::format("{}: {}", label_of(node), field), std::move(message));
  }
  void count(const char* what) { ++sums_.counts[what]; }
  void count_bytes(const std::string& part, std::int64_t size) {
    TraceTotal& total = sums_.summary.by_kind[part];
    ++total.nodes;
    add_bytes(total.bytes_found, size);
  }

  // The size in bytes, above 0. Nothing after a problem.
  std::optional<std::int64_t> comm_size(const ChakraNode& node) {
    if (!node.comm_size) {
      wrong(node, "comm_size", "missing; a communication needs its size, in this trace's unit");
      return std::nullopt;
    }
    if (*node.comm_size == 0) {
      wrong(node, "comm_size", "0; an operator that communicates nothing is not allowed");
      return std::nullopt;
    }
    if (*node.comm_size > trace_limits::kBytes / meaning_.unit) {
      wrong(node, "comm_size",
            fmt::format("{}; at most {} bytes", *node.comm_size, trace_limits::kBytes));
      return std::nullopt;
    }
    return *node.comm_size * meaning_.unit;
  }

  // A number too large for any rank becomes the largest one, which no trace has.
  static std::uint32_t rank_of(std::int64_t rank) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(rank, UINT32_MAX));
  }

  [[nodiscard]] std::int64_t ranks_of(std::uint32_t group) const {
    if (meaning_.one_for_all) return meaning_.gpus;
    return static_cast<std::int64_t>(groups_.ranks[group].size());
  }

  bool set_buffer(const ChakraNode& node, std::int64_t size, std::int64_t ranks,
                  CollectiveNode& made) {
    const bool adds_up =
        made.op == CollectiveOp::all_gather && meaning_.allgather == AllGatherSize::per_rank;
    const std::int64_t blocks = adds_up ? ranks : 1;
    if (size > trace_limits::kBytes / blocks) {
      wrong(node, "comm_size",
            fmt::format("{} B of each of {} ranks; at most {} B together", size, ranks,
                        trace_limits::kBytes));
      return false;
    }
    made.buffer = bytes(size * blocks);
    return true;
  }

  bool set_root(const ChakraNode& node, std::int64_t ranks, CollectiveNode& made) {
    if (made.op != CollectiveOp::broadcast) return true;
    if (!node.root)
      count("broadcasts without root_rank, assumed to start at the group's first rank");
    if (node.root.value_or(0) >= ranks) {
      wrong(node, "root_rank", fmt::format("{}, but the group has {} ranks", *node.root, ranks));
      return false;
    }
    made.root = static_cast<std::uint32_t>(node.root.value_or(0));
    return true;
  }

  std::optional<std::uint32_t> group_of(const ChakraNode& node) {
    if (!node.group || node.group->empty()) {
      if (node.all_dims) return 0;
      wrong(node, "involved_dim",
            "omits dimensions of the network, so the trace does not say which ranks take part; "
            "use pg_name and a file of groups");
      return std::nullopt;
    }
    const auto found = groups_.by_name.find(*node.group);
    if (found == groups_.by_name.end()) {
      wrong(node, "pg_name", unknown_group(*node.group));
      return std::nullopt;
    }
    const bool all = groups_.ranks[found->second] == groups_.ranks[0];
    if (!meaning_.one_for_all || all) return found->second;
    wrong(node, "pg_name",
          fmt::format("'{}' does not contain all ranks, but one_for_all is for traces in which "
                      "all ranks do the same",
                      *node.group));
    return std::nullopt;
  }

  [[nodiscard]] std::string unknown_group(const std::string& name) const {
    if (groups_.by_name.empty()) {
      return fmt::format(
          "process group '{}': the trace lists no groups; name the file that does, such as "
          "{{\"{}\": [0, 1]}}, with workload.process_groups (weft import: --groups), or put it "
          "beside the trace as PREFIX.groups.json",
          name, name);
    }
    std::string known;
    for (const auto& [other, index] : groups_.by_name) known += " '" + other + "'";
    return fmt::format("process group '{}' is unknown; known groups:{}", name, known);
  }

  const ChakraFile& file_;
  const ChakraMeaning& meaning_;
  const TraceGroups& groups_;
  ChakraSums& sums_;
  TraceProblems& problems_;
};

}  // namespace

void read_message(const ChakraNode& node, const CommContext& context, TraceNode& read) {
  CommReader(context).message(node, read);
}

void read_collective(const ChakraNode& node, const CommContext& context, TraceNode& read) {
  CommReader(context).collective(node, read);
}

}  // namespace weft
