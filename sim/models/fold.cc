#include "sim/models/fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/digest.h"
#include "sim/core/ties.h"

namespace weft {
namespace {

bool ties_ranks(const ModelOp& op) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  return communicates(op) || (gemm != nullptr && !gemm->m_by_rank.empty());
}

class Folding {
 public:
  Folding(const ModelGraph& graph, const Cluster& cluster, const Joined& joined)
      : graph_(graph),
        cluster_(cluster),
        first_of_(first_blocks(graph, joined)),
        run_of_(graph.blocks.size()),
        waited_for_(graph.ops.size()),
        parts_of_(graph.ops.size()) {
    for (const ModelOp& op : graph.ops) {
      streams_ = std::max(streams_, op.stream + 1);
      for (const OpId before : op.after) {
        if (block_of(before) != block_of(op)) waited_for_[before.value] = true;
      }
    }
    last_.assign(std::size_t{cluster.gpus()} * streams_, {.run = kNone, .op = {}});
    goes_on_in_.assign(last_.size(), BlockId::none());
  }

  Folded fold() {
    std::uint32_t first = 0;
    while (first < graph_.ops.size()) {
      const BlockId block = block_of(OpId(first));
      std::uint32_t end = first;
      while (end < graph_.ops.size() && block_of(OpId(end)) == block) ++end;
      add_block(block, first, end);
      first = end;
    }
    return std::move(folded_);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Part {  // of a block, while it is cut out
    ModelGraph graph;
    std::map<std::uint32_t, OpId> op_of;   // by operator of the whole model
    std::vector<std::set<Before>> before;  // by operator of the part
    std::vector<bool> first;               // the same: Entrance::first
  };

  // By block: the first of the blocks that it is joined with, which stands for all of them.
  static std::vector<BlockId> first_blocks(const ModelGraph& graph, const Joined& joined) {
    std::vector<BlockId> firsts;
    for (std::uint32_t block = 0; block < graph.blocks.size(); ++block) {
      const bool goes_on = !joined.empty() && joined[block];
      firsts.push_back(goes_on ? firsts.back() : BlockId(block));
    }
    return firsts;
  }
  [[nodiscard]] BlockId block_of(const ModelOp& op) const {
    SIM_ASSERT(!op.block.is_none());
    return first_of_[op.block.value];
  }
  [[nodiscard]] bool stands_for_several(BlockId block) const {
    const std::size_t next = block.value + 1;
    return next < first_of_.size() && first_of_[next] == block;
  }
  [[nodiscard]] BlockId block_of(OpId op) const { return block_of(graph_.ops[op]); }

  void add_block(BlockId block, std::uint32_t first, std::uint32_t end) {
    SIM_ASSERT(run_of_[block.value].empty());
    run_of_[block.value].assign(cluster_.gpus(), kNone);
    Ties ties = tied(first, end);
    std::map<std::uint32_t, Part> parts;  // by first GPU
    split_.clear();
    for (std::uint32_t i = first; i < end; ++i) add_op(OpId(i), ties, parts);
    for (auto& [gpu, part] : parts) add_run(block, part, in_a_node(part));
  }

  // GPUs are tied by their collectives; all that use the network between nodes belong together, and
  // so do all that communicate within one node.
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

  using Split = std::map<std::uint32_t, Groups>;  // by the first GPU of those that are tied
  static Split split_of(const Groups& place, Ties& ties) {
    Split places;
    for (const std::vector<std::uint32_t>& group : place.groups) {
      std::uint32_t of = kNone;
      for (const std::uint32_t gpu : group) {
        const std::uint32_t set = ties.find(gpu);
        std::vector<std::vector<std::uint32_t>>& groups = places[set].groups;
        if (set != of || groups.empty()) groups.emplace_back();
        of = set;
        groups.back().push_back(gpu);
      }
    }
    return places;
  }

  void add_op(OpId id, Ties& ties, std::map<std::uint32_t, Part>& parts) {
    const ModelOp& op = graph_.ops[id];
    const auto [split, added] = split_.try_emplace(op.place.value);
    if (added) split->second = split_of(graph_.places[op.place], ties);
    for (const auto& [set, place] : split->second) {
      Part& part = parts[set];
      const Waits waits = what_it_waits_for(op, place);
      part.before.push_back(waits.before);
      ModelOp own = op;
      own.block = BlockId::none();
      own.after.clear();
      for (const OpId before : op.after) {
        const auto known = part.op_of.find(before.value);
        if (known != part.op_of.end()) own.after.push_back(known->second);
      }
      part.first.push_back(waits.on_a_new_stream && own.after.empty());
      own.place = part.graph.add_place(place);
      part.op_of.emplace(id.value, part.graph.add(std::move(own)));
    }
  }

  struct Waits {
    std::set<Before> before;       // operators of earlier runs
    bool on_a_new_stream = false;  // on some GPU it is the first on its stream in the block
  };

  // What operators before it on its stream wait for in earlier runs it waits for with them.
  Waits what_it_waits_for(const ModelOp& op, const Groups& place) {
    Waits waits;
    const BlockId block = block_of(op);
    const std::optional<std::uint32_t> source = source_of(op);
    for (const std::vector<std::uint32_t>& group : place.groups) {
      for (const std::uint32_t gpu : group) {
        if (source && gpu != group[*source]) continue;
        const std::size_t stream = std::size_t{gpu} * streams_ + op.stream;
        if (goes_on_in_[stream] != block) {
          goes_on_in_[stream] = block;
          waits.on_a_new_stream = true;
          if (last_[stream].run != kNone) waits.before.insert(last_[stream]);
        }
        for (const OpId id : op.after) {
          if (block_of(id) == block) continue;
          const Before* before = where_is(id, gpu);
          if (before != nullptr) waits.before.insert(*before);
        }
      }
    }
    return waits;
  }

  // A transfer begins when its source is ready, as a put, or when both are.
  static std::optional<std::uint32_t> source_of(const ModelOp& op) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr || call->op != CollectiveOp::point_to_point || call->meets) return {};
    return call->root;
  }

  // The part of an earlier block's operator that is on this GPU; null: none.
  [[nodiscard]] const Before* where_is(OpId op, std::uint32_t gpu) const {
    const std::uint32_t run = run_of_[block_of(op).value][gpu];
    const std::vector<Before>& parts = parts_of_[op.value];
    const auto part = std::lower_bound(parts.begin(), parts.end(), run,
                                       [](const Before& a, std::uint32_t b) { return a.run < b; });
    return part == parts.end() || part->run != run ? nullptr : &*part;
  }

  // Nothing elsewhere is equivalent to what happens in an unsound node.
  [[nodiscard]] bool in_a_node(const Part& part) const {
    const std::vector<std::uint32_t> gpus = gpus_of(part.graph);
    const std::uint32_t node = node_of(gpus.front());
    return node == node_of(gpus.back()) && cluster_.is_sound(node);
  }

  // Whether a piece that starts at this node behaves the same if it starts at node 0.
  [[nodiscard]] bool can_move(std::uint32_t node) {
    const auto [known, added] = can_move_.try_emplace(node);
    if (added) {
      known->second = cluster_.unsound.empty() && Transport::can_move(cluster_.network, node);
    }
    return known->second;
  }

  // Piece::strand_of.
  static std::vector<std::uint32_t> strands_in(const ModelGraph& piece) {
    Ties ties(piece.ops.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> on_stream;
    for (std::uint32_t i = 0; i < piece.ops.size(); ++i) {
      const ModelOp& op = piece.ops[OpId(i)];
      for (const OpId before : op.after) ties.tie(before.value, i);
      for (const std::vector<std::uint32_t>& group : piece.places[op.place].groups) {
        for (const std::uint32_t gpu : group) {
          ties.tie(on_stream.try_emplace({gpu, op.stream}, i).first->second, i);
        }
      }
    }
    std::vector<std::uint32_t> strands;
    for (std::uint32_t i = 0; i < piece.ops.size(); ++i) strands.push_back(ties.find(i));
    return strands;
  }

  // What a run of this piece waits for.
  [[nodiscard]] std::vector<std::vector<Entrance>> by_strand(std::uint32_t piece,
                                                             const Part& part) const {
    std::map<std::uint32_t, std::vector<Entrance>> strands;
    for (std::uint32_t op = 0; op < part.before.size(); ++op) {
      const std::set<Before>& before = part.before[op];
      if (before.empty() && !part.first[op]) continue;
      strands[folded_.pieces[piece].strand_of[op]].push_back(
          {.op = OpId(op), .first = part.first[op], .before = {before.begin(), before.end()}});
    }
    std::vector<std::vector<Entrance>> lists;
    lists.reserve(strands.size());
    for (auto& [first, entries] : strands) lists.push_back(std::move(entries));
    return lists;
  }

  void is_waited_for(const Before& before) {
    std::vector<OpId>& exits = folded_.pieces[folded_.runs[before.run].piece].exits;
    const auto place = std::lower_bound(exits.begin(), exits.end(), before.op);
    if (place == exits.end() || *place != before.op) exits.insert(place, before.op);
  }

  void add_run(BlockId block, Part& part, bool in_a_node) {
    const auto run = static_cast<std::uint32_t>(folded_.runs.size());
    for (std::uint32_t i = 0; i < part.graph.ops.size(); ++i) {
      const ModelOp& op = part.graph.ops[OpId(i)];
      for (const std::vector<std::uint32_t>& group : part.graph.places[op.place].groups) {
        for (const std::uint32_t gpu : group) {
          run_of_[block.value][gpu] = run;
          last_[std::size_t{gpu} * streams_ + op.stream] = {.run = run, .op = OpId(i)};
        }
      }
    }
    for (const auto& [op, own] : part.op_of) {
      if (waited_for_[op]) parts_of_[op].push_back({.run = run, .op = own});
    }
    for (const std::set<Before>& all : part.before) {
      for (const Before& before : all) is_waited_for(before);
    }
    std::uint32_t node = node_of(gpus_of(part.graph).front());
    if (!in_a_node && !can_move(node)) node = 0;
    const std::uint32_t shift = node * static_cast<std::uint32_t>(cluster_.spec.gpus_per_node);
    for (Groups& place : part.graph.places) {
      for (std::vector<std::uint32_t>& group : place.groups) {
        for (std::uint32_t& gpu : group) gpu -= shift;
      }
    }
    const std::uint32_t piece = piece_of({.part = std::move(part.graph), .in_a_node = in_a_node});
    folded_.runs.push_back({.piece = piece,
                            .node = node,
                            .block = block,
                            .joined = stands_for_several(block),
                            .strands = by_strand(piece, part)});
  }

  // The index of the known piece that equals this one; if there is none, this one is added.
  std::uint32_t piece_of(Piece piece) {
    std::vector<std::uint32_t>& alike = by_hash_[hash_of(piece.part)];
    for (const std::uint32_t known : alike) {
      const Piece& other = folded_.pieces[known];
      if (other.in_a_node == piece.in_a_node && same(other.part, piece.part)) return known;
    }
    alike.push_back(static_cast<std::uint32_t>(folded_.pieces.size()));
    piece.strand_of = strands_in(piece.part);
    folded_.pieces.push_back(std::move(piece));
    return alike.back();
  }

  // Of few members that tell most pieces apart: same() compares all.
  static DigestValue hash_of(const ModelGraph& graph) {
    Digest hash;
    for (const ModelOp& op : graph.ops) {
      hash.add_all(op.name, op.place, op.stream, op.after);
    }
    return hash.value();
  }

  static bool same(const ModelGraph& a, const ModelGraph& b) {
    const auto same_op = [](const ModelOp& x, const ModelOp& y) {
      return x.place == y.place && x.after == y.after && do_the_same(x, y);
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
  std::vector<BlockId> first_of_;                   // by block: the first it is joined with
  std::vector<std::vector<std::uint32_t>> run_of_;  // by block and GPU
  std::vector<Before> last_;                        // by GPU and stream
  std::vector<BlockId> goes_on_in_;            // by GPU and stream: the last block that has used it
  std::map<std::uint32_t, Split> split_;       // by place, of the block being cut
  std::vector<bool> waited_for_;               // by operator: other blocks wait for it
  std::vector<std::vector<Before>> parts_of_;  // by such operator, in ascending order of runs
  std::map<DigestValue, std::vector<std::uint32_t>> by_hash_;  // pieces
  std::map<std::uint32_t, bool> can_move_;                     // by node
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

std::size_t exit_of(const Piece& piece, OpId op) {
  const auto exit = std::lower_bound(piece.exits.begin(), piece.exits.end(), op);
  SIM_ASSERT(exit != piece.exits.end() && *exit == op);
  return static_cast<std::size_t>(exit - piece.exits.begin());
}

Folded fold(const ModelGraph& graph, const Cluster& cluster, const Joined& joined) {
  if (graph.blocks.empty()) return unfolded(graph);
  return Folding(graph, cluster, joined).fold();
}

Folded unfolded(const ModelGraph& graph) {
  Folded folded;
  folded.pieces.push_back({.part = {}, .whole = &graph});
  folded.runs.push_back({.piece = 0,
                         .node = 0,
                         .block = BlockId::none(),
                         .joined = false,
                         .strands = {{{.op = OpId(0), .first = true, .before = {}}}},
                         .start = {},
                         .pace = {}});
  return folded;
}

}  // namespace weft
