#include "sim/models/fold.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

bool ties_ranks(const ModelOp& op) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  return communicates(op) || (gemm != nullptr && !gemm->m_by_rank.empty());
}

// Sets of GPUs that have to be simulated together.
class Ties {
 public:
  explicit Ties(std::uint32_t gpus) : parent_(gpus) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t gpu) {
    while (parent_[gpu] != gpu) gpu = parent_[gpu] = parent_[parent_[gpu]];
    return gpu;
  }
  // The lower number stays: sets come in the order of their first GPUs.
  void tie(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

class Folding {
 public:
  Folding(const ModelGraph& graph, const Cluster& cluster)
      : graph_(graph), cluster_(cluster), run_of_(graph.blocks.size()) {
    for (const ModelOp& op : graph.ops) streams_ = std::max(streams_, op.stream + 1);
    last_.assign(std::size_t{cluster.gpus()} * streams_, kNone);
  }

  Folded fold() {
    std::uint32_t first = 0;
    while (first < graph_.ops.size()) {
      const BlockId block = graph_.ops[OpId(first)].block;
      SIM_ASSERT(!block.is_none());
      std::uint32_t end = first;
      while (end < graph_.ops.size() && graph_.ops[OpId(end)].block == block) ++end;
      add_block(block, first, end);
      first = end;
    }
    return std::move(folded_);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Part {  // of a block, while it is cut out
    ModelGraph graph;
    std::map<std::uint32_t, OpId> op_of;  // by operator of the whole
    std::set<std::uint32_t> after;
  };

  void add_block(BlockId block, std::uint32_t first, std::uint32_t end) {
    SIM_ASSERT(run_of_[block.value].empty());
    run_of_[block.value].assign(cluster_.gpus(), kNone);
    Ties ties = tied(first, end);
    std::map<std::uint32_t, Part> parts;  // by first GPU
    for (std::uint32_t i = first; i < end; ++i) add_op(OpId(i), ties, parts);
    for (auto& [gpu, part] : parts) add_run(block, part, in_a_node(part));
  }

  // By their collectives; what uses the network between nodes goes together, and so does all that
  // communicates in a node.
  Ties tied(std::uint32_t first, std::uint32_t end) const {
    Ties ties(cluster_.gpus());
    std::vector<std::uint32_t> in_node(cluster_.gpus(), kNone);
    std::uint32_t between = kNone;
    for (std::uint32_t i = first; i < end; ++i) {
      const ModelOp& op = graph_.ops[OpId(i)];
      if (!ties_ranks(op)) continue;
      for (const std::vector<std::uint32_t>& group : graph_.places[op.place].groups) {
        const std::uint32_t node = node_of(group.front());
        const bool leaves = std::any_of(group.begin(), group.end(),
                                        [&](std::uint32_t gpu) { return node_of(gpu) != node; });
        for (const std::uint32_t gpu : group) {
          ties.tie(group.front(), gpu);
          if (!communicates(op)) continue;
          std::uint32_t& other = in_node[node_of(gpu)];
          if (other != kNone) ties.tie(other, gpu);
          other = gpu;
        }
        if (!leaves || !communicates(op)) continue;
        if (between != kNone) ties.tie(between, group.front());
        between = group.front();
      }
    }
    return ties;
  }

  void add_op(OpId id, Ties& ties, std::map<std::uint32_t, Part>& parts) {
    const ModelOp& op = graph_.ops[id];
    std::map<std::uint32_t, Groups> places;
    for (const std::vector<std::uint32_t>& group : graph_.places[op.place].groups) {
      std::uint32_t of = kNone;
      for (const std::uint32_t gpu : group) {
        const std::uint32_t set = ties.find(gpu);
        std::vector<std::vector<std::uint32_t>>& groups = places[set].groups;
        if (set != of || groups.empty()) groups.emplace_back();
        of = set;
        groups.back().push_back(gpu);
      }
    }
    for (auto& [set, place] : places) {
      Part& part = parts[set];
      note_what_it_waits_for(op, place, part);
      ModelOp own = op;
      own.block = BlockId::none();
      own.after.clear();
      for (const OpId before : op.after) {
        const auto known = part.op_of.find(before.value);
        if (known != part.op_of.end()) own.after.push_back(known->second);
      }
      own.place = part.graph.add_place(place);
      part.op_of.emplace(id.value, part.graph.add(std::move(own)));
    }
  }

  void note_what_it_waits_for(const ModelOp& op, const Groups& place, Part& part) const {
    for (const std::vector<std::uint32_t>& group : place.groups) {
      for (const std::uint32_t gpu : group) {
        const std::uint32_t last = last_[std::size_t{gpu} * streams_ + op.stream];
        if (last != kNone) part.after.insert(last);
        for (const OpId before : op.after) {
          const BlockId block = graph_.ops[before].block;
          const std::uint32_t run = run_of_[block.value][gpu];
          if (block != op.block && run != kNone) part.after.insert(run);
        }
      }
    }
  }

  // What happens in an unsound node is like nothing elsewhere.
  [[nodiscard]] bool in_a_node(const Part& part) const {
    const std::vector<std::uint32_t> gpus = gpus_of(part.graph);
    const std::uint32_t node = node_of(gpus.front());
    return node == node_of(gpus.back()) && cluster_.is_sound(node);
  }

  // Whether what happens from this node on would be the same from node 0 on.
  [[nodiscard]] bool can_move(std::uint32_t node) {
    const auto [known, added] = can_move_.try_emplace(node);
    if (added) {
      known->second = cluster_.unsound.empty() && Transport::can_move(cluster_.network, node);
    }
    return known->second;
  }

  void add_run(BlockId block, Part& part, bool in_a_node) {
    const auto run = static_cast<std::uint32_t>(folded_.runs.size());
    for (const ModelOp& op : part.graph.ops) {
      for (const std::vector<std::uint32_t>& group : part.graph.places[op.place].groups) {
        for (const std::uint32_t gpu : group) {
          run_of_[block.value][gpu] = run;
          last_[std::size_t{gpu} * streams_ + op.stream] = run;
        }
      }
    }
    std::uint32_t node = node_of(gpus_of(part.graph).front());
    if (!in_a_node && !can_move(node)) node = 0;
    const std::uint32_t shift = node * static_cast<std::uint32_t>(cluster_.spec.gpus_per_node);
    for (Groups& place : part.graph.places) {
      for (std::vector<std::uint32_t>& group : place.groups) {
        for (std::uint32_t& gpu : group) gpu -= shift;
      }
    }
    folded_.runs.push_back({.piece = piece_of({std::move(part.graph), in_a_node}),
                            .node = node,
                            .after = {part.after.begin(), part.after.end()}});
  }

  // The piece that is like this one.
  std::uint32_t piece_of(Piece piece) {
    std::vector<std::uint32_t>& alike = by_text_[to_text(piece.graph)];
    for (const std::uint32_t known : alike) {
      const Piece& other = folded_.pieces[known];
      if (other.in_a_node == piece.in_a_node && same(other.graph, piece.graph)) return known;
    }
    alike.push_back(static_cast<std::uint32_t>(folded_.pieces.size()));
    folded_.pieces.push_back(std::move(piece));
    return alike.back();
  }

  static bool same(const ModelGraph& a, const ModelGraph& b) {
    const auto same_op = [](const ModelOp& x, const ModelOp& y) {
      return x.name == y.name && x.part == y.part && x.shape == y.shape && x.place == y.place &&
             x.stream == y.stream && x.after == y.after;
    };
    return a.ops.size() == b.ops.size() && a.places.size() == b.places.size() &&
           std::equal(a.places.begin(), a.places.end(), b.places.begin()) &&
           std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), same_op);
  }

  [[nodiscard]] std::uint32_t node_of(std::uint32_t gpu) const {
    return cluster_.node_of(GpuId(gpu));
  }

  const ModelGraph& graph_;
  const Cluster& cluster_;
  std::uint32_t streams_ = 1;
  std::vector<std::vector<std::uint32_t>> run_of_;  // by block and GPU
  std::vector<std::uint32_t> last_;                 // run, by GPU and stream
  std::map<std::string, std::vector<std::uint32_t>> by_text_;
  std::map<std::uint32_t, bool> can_move_;  // by node
  Folded folded_;
};

}  // namespace

std::vector<std::uint32_t> gpus_of(const ModelGraph& graph) {
  std::set<std::uint32_t> gpus;
  for (const Groups& place : graph.places) {
    for (const std::vector<std::uint32_t>& group : place.groups) {
      gpus.insert(group.begin(), group.end());
    }
  }
  return {gpus.begin(), gpus.end()};
}

std::uint32_t first_gpu(const PieceRun& run, const Cluster& cluster) {
  return run.node * static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
}

Folded fold(const ModelGraph& graph, const Cluster& cluster) {
  if (graph.blocks.empty()) return unfolded(graph);
  return Folding(graph, cluster).fold();
}

Folded unfolded(const ModelGraph& graph) {
  Folded folded;
  folded.pieces.push_back({.graph = graph, .in_a_node = false});
  folded.runs.push_back({.piece = 0, .node = 0, .after = {}});
  return folded;
}

}  // namespace weft
