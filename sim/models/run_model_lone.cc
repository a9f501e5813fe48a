// A model's collectives that are in no pair which could be overlapped, each by itself.
#include <algorithm>
#include <set>

#include "sim/models/alone.h"
#include "sim/models/collective_rules.h"
#include "sim/models/run_model.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

ModelGraph collective_alone(const ModelGraph& graph, const ModelOp& op, const Cluster& cluster) {
  ModelGraph alone;
  ModelOp copy = op;
  copy.place = alone.add_place(groups_alone(graph.places[op.place], cluster));
  copy.after.clear();
  copy.block = BlockId::none();
  alone.add(std::move(copy));
  return alone;
}

}  // namespace

std::vector<ModelRun::LoneCollective> ModelRun::lone_collectives() const {
  const Folding& folding = folding_.at({});
  std::vector<LoneCollective> all;
  std::vector<std::vector<std::int64_t>> times;  // by GPU
  const auto index_of = [&](const Piece& piece, const ModelOp& op) {
    ModelGraph alone = collective_alone(piece.graph(), op, cluster_of(piece));
    const auto known = std::find_if(all.begin(), all.end(), [&](const LoneCollective& other) {
      return other.op().name == op.name && other.op().shape == op.shape &&
             lie_alike(other.alone.places[other.op().place], alone.places[PlaceId(0)], cluster_);
    });
    const auto index = static_cast<std::size_t>(known - all.begin());
    if (known == all.end()) {
      const bool in_a_node = is_on_first_node(alone.places[PlaceId(0)], cluster_);
      all.push_back({.alone = std::move(alone), .in_a_node = in_a_node});
      times.emplace_back(cluster_.gpus(), 0);
    }
    return index;
  };
  struct Found {
    std::size_t index;
    PlaceId place;
  };
  std::vector<std::vector<Found>> by_piece;
  for (std::size_t p = 0; p < folding.folded.pieces.size(); ++p) {
    const Piece& piece = folding.folded.pieces[p];
    std::set<OpId> paired;
    for (const Pair& pair : folding.pairs[p]) {
      if (pair.fusion.obstacle.empty()) paired.insert(communicating(pair.fusion));
    }
    std::vector<Found>& found = by_piece.emplace_back();
    for (std::uint32_t i = 0; i < piece.graph().ops.size(); ++i) {
      const ModelOp& op = piece.graph().ops[OpId(i)];
      if (!can_be_ruled(op) || paired.contains(OpId(i))) continue;
      if (std::get<CommunicationShape>(op.shape).puts) continue;
      found.push_back({index_of(piece, op), op.place});
    }
  }
  for (const PieceRun& run : folding.folded.runs) {
    const ModelGraph& graph = folding.folded.pieces[run.piece].graph();
    const std::uint32_t shift = first_gpu(run, cluster_);
    for (const Found& found : by_piece[run.piece]) {
      for (const auto& group : graph.places[found.place].groups) {
        for (const std::uint32_t gpu : group) times[found.index][gpu + shift] += 1;
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].times = *std::max_element(times[i].begin(), times[i].end());
  }
  return all;
}

std::optional<Duration> ModelRun::time_of(const LoneCollective& one,
                                          const CollectiveOptions& run_as,
                                          const RunOptions& options) const {
  ModelGraph alone = one.alone;
  std::get<CommunicationShape>(alone.ops[OpId(0)].shape).own = run_as;
  const ModelLowering how{.options = overlap_options(scenario_),
                          .cluster = one.in_a_node ? node_ : cluster_};
  const RunResult result = result_or_known(alone, how, options, {}).run.result;
  return result.ending == Ending::finished ? std::optional(result.time) : std::nullopt;
}

}  // namespace weft
