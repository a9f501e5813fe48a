#include "sim/traces/chakra/chakra_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "sim/traces/chakra/chakra_comm.h"
#include "sim/traces/names.h"
#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

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
    std::vector<TraceNode> results = nodes_of_results(order);
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
      take_position(node, order.size(), rank);
    }
    std::move(results.begin(), results.end(), std::back_inserter(rank.nodes));
    count_file();
    return rank;
  }

 private:
  struct Launched {  // what one operator of the CPU launched
    std::vector<std::uint32_t> kernels;
    std::uint32_t first_result = 0;  // index of the first kernel's node of results
  };

  [[nodiscard]] CommContext context() {
    return {.file = file_,
            .meaning = meaning_,
            .groups = groups_,
            .sums = sums_,
            .problems = problems_};
  }

  void wrong(const ChakraNode& node, const char* field, std::string message) {
    problems_.add(file_.name, fmt::format("{}: {}", label_of(node), field), std::move(message));
  }
  void count(const char* what) { ++sums_.counts[what]; }

  [[nodiscard]] static bool on_cpu(const ChakraNode& node) { return node.cpu_op.value_or(false); }

  // What the CPU does to start a collective counts as work of the CPU.
  [[nodiscard]] static bool computes(const ChakraNode& node) {
    return node.kind == ChakraKind::compute ||
           (on_cpu(node) && node.kind != ChakraKind::metadata && node.kind != ChakraKind::invalid);
  }

  // GPU streams come first, by their number; then the CPU's threads.
  void number_lanes() {
    for (const ChakraNode& node : file_.nodes) {
      if (computes(node)) lanes_[{on_cpu(node), node.stream.value_or(0)}] = 0;
    }
    std::uint32_t next = 0;
    for (auto& [stream, lane] : lanes_) lane = next++;
  }

  // Nodes in the order of their recorded times, if the trace has them; otherwise as in the file.
  [[nodiscard]] std::vector<std::uint32_t> program_order() const {
    std::vector<std::uint32_t> order(file_.nodes.size());
    std::iota(order.begin(), order.end(), 0U);
    if (!file_.recorded) return order;
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return file_.nodes[a].start_us < file_.nodes[b].start_us;
    });
    return order;
  }

  // A recorder's nodes wait for operators of the CPU, which stand for their results: these are made
  // by the kernels that they launched. A kernel's first dependency is its launching operator.
  void find_launches(const std::vector<std::uint32_t>& order) {
    if (!file_.recorded) return;
    const bool blocking = meaning_.waits_for == WaitFor::blocking_collectives;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const ChakraNode& node = file_.nodes[order[i]];
      if (on_cpu(node) || node.data_deps.empty()) continue;
      if (node.kind == ChakraKind::collective && !blocking) {
        count(
            "collectives that the CPU only starts: only nodes that name them wait for them "
            "(waits_for: blocking_collectives)");
        continue;
      }
      launched_[node.data_deps.front()].kernels.push_back(i);
    }
  }

  // The results of CPU operators so far: after each kernel that one launched, a node that takes no
  // time and waits for this kernel and for the previous such node. They come after all other nodes.
  std::vector<TraceNode> nodes_of_results(const std::vector<std::uint32_t>& order) {
    std::vector<TraceNode> nodes;
    for (const std::uint32_t at : order) {
      const auto found = launched_.find(file_.nodes[at].id);
      if (found == launched_.end() || found->second.first_result != 0) continue;
      const auto next = [&] { return static_cast<std::uint32_t>(order.size() + nodes.size()); };
      found->second.first_result = next();
      for (const std::uint32_t kernel : found->second.kernels) {
        TraceNode node{.label = "results of " + label_of(file_.nodes[at]),
                       .name = {},
                       .part = {},
                       .what = PassNode{},
                       .after = {kernel}};
        if (next() != found->second.first_result) node.after.push_back(next() - 1);
        nodes.push_back(std::move(node));
      }
    }
    return nodes;
  }

  // Waits only for earlier kernels: part of an in-place operation may wait for a later part.
  void wait_for_launched(const ChakraNode& node, std::uint64_t by, std::uint32_t own,
                         TraceNode& read) {
    if (on_cpu(node) && meaning_.cpu_ops == CpuOps::run) return;  // it runs ahead of the GPU
    if (!on_cpu(node) && node.data_deps.front() == by) return;
    const auto found = launched_.find(by);
    if (found == launched_.end() || found->second.first_result == 0) return;
    const std::vector<std::uint32_t>& kernels = found->second.kernels;
    const auto earlier = std::lower_bound(kernels.begin(), kernels.end(), own) - kernels.begin();
    if (earlier == 0) return;
    read.after.push_back(found->second.first_result + static_cast<std::uint32_t>(earlier - 1));
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
      count("nodes without is_cpu_op, assumed to be the GPU's");
    }
    if (on_cpu(node) && meaning_.cpu_ops == CpuOps::drop) {
      return count("CPU operators, which take no time (with cpu_ops: run they do)");
    }
    if (computes(node)) return compute(node, read);
    switch (node.kind) {
      case ChakraKind::memory_load:
      case ChakraKind::memory_store:
        return memory(node, read);
      case ChakraKind::send:
      case ChakraKind::receive:
        return read_message(node, context(), read);
      case ChakraKind::collective:
        return read_collective(node, context(), read);
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
      add_saturating(sums_.summary.recorded, time);
      RecordedShape shape{.time = time, .lds = {}};
      if (!take_wgs(node, shape)) return;
      made.shape = shape;
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

  // Nodes behind the last one that has a position are left out (RankTrace::positions).
  void take_position(const ChakraNode& node, std::size_t nodes, RankTrace& rank) {
    if (!node.block) return;
    constexpr std::uint64_t kMost = ModelPosition::kNone - 1;
    const auto block = static_cast<std::uint64_t>(*node.block);
    if (block > kMost || node.id > kMost) {
      return wrong(node, "model_block", fmt::format("id and block must be at most {}", kMost));
    }
    rank.positions.reserve(nodes);
    rank.positions.resize(rank.nodes.size());
    rank.positions.back() = {.block = static_cast<std::uint32_t>(block),
                             .op = static_cast<std::uint32_t>(node.id)};
  }

  // What the node says of its WGs; a kernel that says nothing has one WG.
  bool take_wgs(const ChakraNode& node, RecordedShape& shape) {
    const auto take = [&](const char* field, const std::optional<std::int64_t>& value,
                          std::int64_t least, std::int64_t most, auto& member) {
      if (!value) return true;
      if (*value < least || *value > most) {
        wrong(node, field, fmt::format("{}; must be {} to {}", *value, least, most));
        return false;
      }
      member = static_cast<std::remove_reference_t<decltype(member)>>(*value);
      return true;
    };
    if (!node.wgs && !on_cpu(node)) count("kernels without a number of WGs, taken as one WG each");
    std::int64_t lds = 0;
    const bool good = take("num_wgs", node.wgs, 1, trace_limits::kWgs, shape.wgs) &&
                      take("wg_threads", node.threads, 1, 1'024, shape.threads) &&
                      take("wg_registers_per_thread", node.registers_per_thread, 1, 1'024,
                           shape.registers_per_thread) &&
                      take("wg_lds_bytes", node.lds_bytes, 0, std::int64_t{1} << 20U, lds);
    shape.lds = bytes(lds);
    return good;
  }

  std::optional<Bytes> tensor(const ChakraNode& node) {
    const std::int64_t size = node.tensor_size.value_or(0);
    if (size <= trace_limits::kBytes) return bytes(size);
    wrong(node, "tensor_size", fmt::format("{} B; at most {}", size, trace_limits::kBytes));
    return std::nullopt;
  }

  void memory(const ChakraNode& node, TraceNode& read) {
    if (node.tensor_size.value_or(0) == 0) {
      return wrong(node, "tensor_size", "missing or 0; a memory node needs a size in bytes");
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
    count("memory nodes, assumed to read and write the GPU's own memory");
  }

  void count_file() {
    sums_.summary.nodes += file_.nodes.size();
    sums_.counts["comm_size as an unsigned number, as older writers have it"] +=
        file_.unsigned_sizes;
    for (const auto& [name, number] : file_.unused) {
      sums_.counts[fmt::format("attributes '{}' that are not used", name)] += number;
    }
  }

  const ChakraFile& file_;
  const ChakraMeaning& meaning_;
  const TraceGroups& groups_;
  ChakraSums& sums_;
  TraceProblems& problems_;
  std::unordered_map<std::uint64_t, Launched> launched_;          // not iterated
  std::map<std::pair<bool, std::int64_t>, std::uint32_t> lanes_;  // by CPU or not, and stream
};

}  // namespace

RankTrace read_rank(const ChakraFile& file, const ChakraMeaning& meaning, const TraceGroups& groups,
                    ChakraSums& sums, TraceProblems& problems) {
  return RankReader(file, meaning, groups, sums, problems).read();
}

}  // namespace weft
