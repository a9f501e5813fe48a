#include "sim/traces/chakra_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "sim/traces/names.h"
#include "sim/traces/trace_limits.h"
#include "sim/workloads/collective.h"

namespace weft {
namespace {

// By the number of comm_type.
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

class RankReader {
 public:
  RankReader(const ChakraFile& file, const ChakraMeaning& meaning, const TraceGroups& groups,
             ChakraSums& sums, TraceProblems& problems)
      : file_(file), meaning_(meaning), groups_(groups), sums_(sums), problems_(problems) {}

  RankTrace read() {
    number_lanes();
    const std::vector<std::uint32_t> order = program_order();
    std::unordered_map<std::uint64_t, std::uint32_t> index;  // not iterated
    for (std::uint32_t i = 0; i < order.size(); ++i) index[file_.nodes[order[i]].id] = i;
    find_launches(order);
    RankTrace rank;
    rank.file = file_.name;
    rank.nodes.reserve(order.size());
    for (const std::uint32_t at : order) {
      const ChakraNode& node = file_.nodes[at];
      TraceNode read{.label = label_of(node),
                     .name = short_kernel_name(node.name),
                     .part = "compute",
                     .what = PassNode{},
                     .after = {}};
      decide(node, read);
      wait(node, "data_deps", node.data_deps, index, read);
      for (const std::uint64_t id : node.data_deps) {
        wait_for_launched(node, id, static_cast<std::uint32_t>(rank.nodes.size()), read);
      }
      take_control(node, index, read);
      rank.nodes.push_back(std::move(read));
    }
    count_file();
    return rank;
  }

 private:
  void wrong(const ChakraNode& node, const char* field, std::string message) {
    problems_.add(file_.name, fmt::format("{}: {}", label_of(node), field), std::move(message));
  }
  void count(const char* what) { ++sums_.counts[what]; }

  [[nodiscard]] static bool on_cpu(const ChakraNode& node) { return node.cpu_op.value_or(false); }

  // What the CPU does to start a collective is work of the CPU.
  [[nodiscard]] static bool computes(const ChakraNode& node) {
    return node.kind == ChakraKind::compute ||
           (on_cpu(node) && node.kind != ChakraKind::metadata && node.kind != ChakraKind::invalid);
  }

  // GPU streams first, by their number; then the CPU's threads.
  void number_lanes() {
    for (const ChakraNode& node : file_.nodes) {
      if (computes(node)) lanes_[{on_cpu(node), node.stream.value_or(0)}] = 0;
    }
    std::uint32_t next = 0;
    for (auto& [stream, lane] : lanes_) lane = next++;
  }

  // As recorded, where the trace says when; else as the file has them.
  [[nodiscard]] std::vector<std::uint32_t> program_order() const {
    std::vector<std::uint32_t> order(file_.nodes.size());
    std::iota(order.begin(), order.end(), 0U);
    if (!file_.recorded) return order;
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return file_.nodes[a].start_us < file_.nodes[b].start_us;
    });
    return order;
  }

  // A recorder's nodes wait for operators of the CPU, of which each stands for its results: these
  // are made by the kernels that it launched. A kernel's first dependency is who launched it.
  void find_launches(const std::vector<std::uint32_t>& order) {
    if (!file_.recorded) return;
    const bool blocking = meaning_.waits_for == WaitFor::blocking_collectives;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const ChakraNode& node = file_.nodes[order[i]];
      if (on_cpu(node) || node.data_deps.empty()) continue;
      if (node.kind == ChakraKind::collective && !blocking) {
        count(
            "collectives that the CPU only starts: only what names them waits for them "
            "(waits_for: blocking_collectives)");
        continue;
      }
      launched_[node.data_deps.front()].push_back(i);
    }
  }

  // Only for earlier kernels: of an operation in place, a part may wait for a later part.
  void wait_for_launched(const ChakraNode& node, std::uint64_t by, std::uint32_t own,
                         TraceNode& read) {
    if (on_cpu(node) && meaning_.cpu_ops == CpuOps::run) return;  // it runs ahead of the GPU
    if (!on_cpu(node) && node.data_deps.front() == by) return;
    const auto found = launched_.find(by);
    if (found == launched_.end()) return;
    for (const std::uint32_t kernel : found->second) {
      if (kernel < own) read.after.push_back(kernel);
    }
  }

  void wait(const ChakraNode& node, const char* field, const std::vector<std::uint64_t>& ids,
            const std::unordered_map<std::uint64_t, std::uint32_t>& index, TraceNode& read) {
    for (const std::uint64_t id : ids) {
      const auto found = index.find(id);
      if (found == index.end()) {
        wrong(node, field, fmt::format("waits for node {}, which is not in this file", id));
      } else {
        read.after.push_back(found->second);
      }
    }
  }

  void take_control(const ChakraNode& node,
                    const std::unordered_map<std::uint64_t, std::uint32_t>& index,
                    TraceNode& read) {
    if (meaning_.waits_for == WaitFor::data_and_control) {
      wait(node, "ctrl_deps", node.ctrl_deps, index, read);
    } else {
      sums_.counts["control dependencies not waited for (waits_for: data_and_control would)"] +=
          node.ctrl_deps.size();
    }
  }

  void decide(const ChakraNode& node, TraceNode& read) {
    if (!node.cpu_op && node.kind != ChakraKind::metadata) {
      count("nodes without is_cpu_op, taken as the GPU's");
    }
    if (on_cpu(node) && meaning_.cpu_ops == CpuOps::drop) {
      return count("operators of the CPU, which take no time (cpu_ops: run gives them theirs)");
    }
    if (computes(node)) return compute(node, read);
    switch (node.kind) {
      case ChakraKind::memory_load:
      case ChakraKind::memory_store:
        return memory(node, read);
      case ChakraKind::send:
      case ChakraKind::receive:
        return message(node, read);
      case ChakraKind::collective:
        return collective(node, read);
      case ChakraKind::compute:  // done above
      case ChakraKind::metadata:
      case ChakraKind::invalid:  // a problem already
        return;
    }
  }

  void compute(const ChakraNode& node, TraceNode& read) {
    ComputeNode made;
    made.lane = lanes_.at({on_cpu(node), node.stream.value_or(0)});
    if (node.duration_us > trace_limits::kMicroseconds) {
      return wrong(node, "duration_micros",
                   fmt::format("{}; at most {}", node.duration_us, trace_limits::kMicroseconds));
    }
    if (node.num_ops.value_or(0) > trace_limits::kFlops) {
      return wrong(node, "num_ops",
                   fmt::format("{}; at most {}", *node.num_ops, trace_limits::kFlops));
    }
    if (node.duration_us > 0) {
      const Duration time = microseconds(node.duration_us);
      sums_.summary.recorded += time;
      made.shape = RecordedShape{.time = time, .lds = {}};
    } else if (node.num_ops.value_or(0) > 0 || node.tensor_size.value_or(0) > 0) {
      const std::optional<Bytes> size = tensor(node);
      if (!size) return;
      made.shape =
          StreamShape{.read = *size, .written = {}, .flops = flops(node.num_ops.value_or(0))};
    } else {
      return count("compute nodes of 0 us with no num_ops or tensor_size, which take no time");
    }
    if (on_cpu(node)) read.part = "cpu";
    read.what = made;
    ++sums_.summary.by_kind[read.part].nodes;
  }

  std::optional<Bytes> tensor(const ChakraNode& node) {
    const std::int64_t size = node.tensor_size.value_or(0);
    if (size <= trace_limits::kBytes) return bytes(size);
    wrong(node, "tensor_size", fmt::format("{} B; at most {}", size, trace_limits::kBytes));
    return std::nullopt;
  }

  void memory(const ChakraNode& node, TraceNode& read) {
    if (node.tensor_size.value_or(0) == 0) {
      return wrong(node, "tensor_size", "missing or 0; a memory node needs its bytes");
    }
    const std::optional<Bytes> size = tensor(node);
    if (!size) return;
    const bool loads = node.kind == ChakraKind::memory_load;
    read.part = loads ? "load" : "store";
    read.what = ComputeNode{.shape = StreamShape{.read = loads ? *size : Bytes{},
                                                 .written = loads ? Bytes{} : *size,
                                                 .flops = {}},
                            .lane = 0};
    ++sums_.summary.by_kind[read.part].nodes;
    count("memory nodes, taken as reads and writes of the GPU's own memory");
  }

  // In bytes, above 0. Nothing after a problem.
  std::optional<std::int64_t> comm_size(const ChakraNode& node) {
    if (!node.comm_size) {
      wrong(node, "comm_size",
            "missing; what is communicated needs its size, in this trace's unit");
      return std::nullopt;
    }
    if (*node.comm_size == 0) {
      wrong(node, "comm_size", "0; nothing would be communicated, which is no operator");
      return std::nullopt;
    }
    if (*node.comm_size > trace_limits::kBytes / meaning_.unit) {
      wrong(node, "comm_size",
            fmt::format("{}; at most {} bytes", *node.comm_size, trace_limits::kBytes));
      return std::nullopt;
    }
    return *node.comm_size * meaning_.unit;
  }

  void message(const ChakraNode& node, TraceNode& read) {
    const std::optional<std::int64_t> size = comm_size(node);
    if (!node.comm_source) wrong(node, "comm_src", "missing; the rank that sends");
    if (!node.comm_target) wrong(node, "comm_dst", "missing; the rank that receives");
    if (!size || !node.comm_source || !node.comm_target) return;
    if (meaning_.one_for_all) {
      return wrong(node, "type",
                   "a message from rank to rank: one_for_all is for traces in which "
                   "all ranks do the same");
    }
    MessageNode made;
    const bool sends = node.kind == ChakraKind::send;
    made.end = sends ? MessageNode::End::send : MessageNode::End::receive;
    made.source = rank_of(*node.comm_source);
    made.target = rank_of(*node.comm_target);
    made.tag = node.comm_tag.value_or(0);
    made.size = bytes(*size);
    read.part = "send";
    read.what = made;
    TraceTotal& total = sums_.summary.by_kind[read.part];
    ++total.nodes;
    if (sends) total.bytes_found += *size;
  }

  // Too large for a rank at all: the largest, which no trace has.
  static std::uint32_t rank_of(std::int64_t rank) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(rank, UINT32_MAX));
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
    if (ranks < 2) return count("collectives of one rank alone, which send nothing");
    CollectiveNode made{.group = *group, .op = *kind.op, .buffer = {}, .sends = {}};
    if (!set_buffer(node, *size, ranks, made) || !set_root(node, ranks, made)) return;
    read.part = name_of(made.op);
    read.what = made;
    TraceTotal& total = sums_.summary.by_kind[read.part];
    ++total.nodes;
    total.bytes_found += *size;
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
    if (!node.root) count("broadcasts without root_rank, taken to start at the group's first rank");
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
            "leaves dimensions of the network out, so which ranks take part is not in the trace; "
            "give pg_name and a file of groups");
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
          fmt::format("'{}' is not all ranks: one_for_all is for traces in which "
                      "all ranks do the same",
                      *node.group));
    return std::nullopt;
  }

  [[nodiscard]] std::string unknown_group(const std::string& name) const {
    if (groups_.by_name.empty()) {
      return fmt::format(
          "process group '{}': the trace lists no groups; say with `groups` which "
          "file does, such as {{\"{}\": [0, 1]}}",
          name, name);
    }
    std::string known;
    for (const auto& [other, index] : groups_.by_name) known += " '" + other + "'";
    return fmt::format("process group '{}' is unknown; known here:{}", name, known);
  }

  void count_file() {
    sums_.summary.nodes += file_.nodes.size();
    sums_.counts["comm_size as unsigned number, as older writers have it"] += file_.unsigned_sizes;
    for (const auto& [name, number] : file_.unused) {
      sums_.counts[fmt::format("attributes '{}' that are not used", name)] += number;
    }
  }

  static constexpr std::int64_t kBarrierBytes = 4;

  const ChakraFile& file_;
  const ChakraMeaning& meaning_;
  const TraceGroups& groups_;
  ChakraSums& sums_;
  TraceProblems& problems_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> launched_;  // not iterated
  std::map<std::pair<bool, std::int64_t>, std::uint32_t> lanes_;  // by CPU or not, and stream
};

}  // namespace

RankTrace read_rank(const ChakraFile& file, const ChakraMeaning& meaning, const TraceGroups& groups,
                    ChakraSums& sums, TraceProblems& problems) {
  return RankReader(file, meaning, groups, sums, problems).read();
}

}  // namespace weft
