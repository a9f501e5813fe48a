#include "sim/models/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/lower_model.h"

namespace weft {
namespace {

Cluster one_node_of(const Cluster& cluster) {
  ClusterSpec spec = cluster.spec;
  spec.nodes = 1;
  spec.scale_out.reset();
  spec.nic.reset();
  return build_cluster(spec);
}

// The two operators of a fusion by themselves.
ModelGraph pair_alone(const ModelGraph& graph, const Fusion& fusion) {
  ModelGraph alone;
  for (const OpId id : {fusion.first, fusion.second}) {
    ModelOp op = graph.ops[id];
    op.place = alone.add_place(graph.places[op.place]);
    op.after.clear();
    if (id == fusion.second) op.after = {OpId(0)};
    op.block = BlockId::none();
    alone.add(std::move(op));
  }
  return alone;
}

WgShape wg_of_op(const ModelGraph& graph, const Fusion& fusion, const GpuSpec& gpu) {
  const ModelOp& call = graph.ops[communicating(fusion)];
  const auto peers = static_cast<std::uint32_t>(graph.places[call.place].groups.front().size());
  return peer_grid(graph.ops[computing(fusion)], std::get<CommunicationShape>(call.shape), gpu,
                   peers, {})
      .grid->wg;
}

bool same_pair(const ModelGraph& a, const ModelGraph& b) {
  const auto alike = [](const ModelOp& x, const ModelOp& y) {
    return x.name == y.name && x.shape == y.shape;
  };
  return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), alike) &&
         std::equal(a.places.begin(), a.places.end(), b.places.begin(), b.places.end());
}

}  // namespace

ModelRun::ModelRun(const Scenario& scenario, const Cluster& cluster, Folded folded)
    : scenario_(scenario),
      cluster_(cluster),
      node_(one_node_of(cluster)),
      folded_(std::move(folded)) {
  find_candidates();
}

// Runs of each piece in which the GPU takes part that the first run begins with.
std::vector<std::int64_t> ModelRun::times_on_first_gpu() const {
  const auto per_node = static_cast<std::uint32_t>(cluster_.spec.gpus_per_node);
  std::vector<std::vector<std::uint32_t>> gpus;
  for (const Piece& piece : folded_.pieces) gpus.push_back(gpus_of(piece.graph));
  const auto shift = [&](const PieceRun& run) {
    return folded_.pieces[run.piece].in_a_node ? run.node * per_node : 0;
  };
  const PieceRun& front = folded_.runs.front();
  const std::uint32_t first = gpus[front.piece].front() + shift(front);
  std::vector<std::int64_t> times(folded_.pieces.size(), 0);
  for (const PieceRun& run : folded_.runs) {
    if (shift(run) > first) continue;
    const std::vector<std::uint32_t>& of = gpus[run.piece];
    times[run.piece] += std::binary_search(of.begin(), of.end(), first - shift(run)) ? 1 : 0;
  }
  return times;
}

void ModelRun::find_candidates() {
  const std::vector<std::int64_t> times = times_on_first_gpu();
  std::vector<ModelGraph> tried;
  for (std::uint32_t i = 0; i < folded_.pieces.size(); ++i) {
    const Piece& piece = folded_.pieces[i];
    pairs_.emplace_back();
    for (const Fusion& fusion : find_fusions(piece.graph, scenario_.cluster.gpu)) {
      ModelGraph alone = pair_alone(piece.graph, fusion);
      const auto known =
          std::find_if(tried.begin(), tried.end(),
                       [&alone](const ModelGraph& other) { return same_pair(other, alone); });
      const auto index = static_cast<std::uint32_t>(known - tried.begin());
      if (known == tried.end()) {
        Candidate& candidate = candidates_.emplace_back();
        candidate.name = alone.ops[OpId(0)].name + " + " + alone.ops[OpId(1)].name;
        candidate.pattern = fusion.pattern;
        candidate.obstacle = fusion.obstacle;
        if (fusion.obstacle.empty()) {
          Fusion first = fusion;
          first.first = OpId(0);
          first.second = OpId(1);
          const Cluster& cluster = cluster_of(piece);
          for (const Mode mode : {Mode::bulk, Mode::fused}) {
            const TaskGraph tasks = lower_model(
                alone,
                {.scenario = scenario_, .cluster = cluster, .mode = mode, .fusions = {first}});
            const Duration time = simulate(cluster, tasks, scenario_.run).time;
            (mode == Mode::bulk ? candidate.bulk : candidate.fused) = time;
          }
          const GpuSpec& gpu = scenario_.cluster.gpu;
          const WgShape wg = wg_of_op(alone, first, gpu);
          candidate.wgs_per_cu_bulk = resident(gpu, wg, {});
          candidate.wgs_per_cu_fused = resident(gpu, wg, fused_version(scenario_.fused));
        }
        tried.push_back(std::move(alone));
      }
      candidates_[index].times += times[i];
      pairs_.back().push_back({fusion, index});
    }
  }
}

std::vector<Fusion> ModelRun::chosen(std::uint32_t piece) const {
  const FuseOptions& options = scenario_.workload.fuse;
  std::vector<Fusion> fusions;
  for (const Pair& pair : pairs_[piece]) {
    const Candidate& candidate = candidates_[pair.candidate];
    if (!candidate.obstacle.empty()) continue;
    const bool asked = std::find(options.patterns.begin(), options.patterns.end(),
                                 candidate.pattern) != options.patterns.end();
    if (options.automatic ? candidate.gain() > Duration{} : asked) fusions.push_back(pair.fusion);
  }
  return fusions;
}

TaskGraph ModelRun::lowered(std::uint32_t piece, Mode mode) const {
  const Piece& what = folded_.pieces[piece];
  return lower_model(
      what.graph,
      {.scenario = scenario_, .cluster = cluster_of(what), .mode = mode, .fusions = chosen(piece)});
}

std::string ModelRun::tasks_text(Mode mode) const {
  std::string text;
  for (std::uint32_t i = 0; i < folded_.pieces.size(); ++i) {
    const auto runs = std::count_if(folded_.runs.begin(), folded_.runs.end(),
                                    [i](const PieceRun& run) { return run.piece == i; });
    text += fmt::format("piece {} of {}, run {} times\n{}", i + 1, folded_.pieces.size(), runs,
                        to_text(lowered(i, mode)));
  }
  return text;
}

RunResult ModelRun::run(Mode mode, const OnProgress& on_progress) {
  std::vector<RunResult> results;
  for (std::uint32_t i = 0; i < folded_.pieces.size(); ++i) {
    results.push_back(
        simulate(cluster_of(folded_.pieces[i]), lowered(i, mode), scenario_.run, on_progress));
    results.back().mode = mode;
    if (results.back().ending != Ending::finished) return results.back();
  }
  if (folded_.pieces.size() == 1 && folded_.runs.size() == 1 && !folded_.pieces[0].in_a_node) {
    return results.front();
  }
  RunResult result = put_together(folded_, results, cluster_);
  result.mode = mode;
  return result;
}

std::vector<Candidate> ModelRun::candidates() const {
  std::vector<Candidate> ranked = candidates_;
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
    if (a.obstacle.empty() != b.obstacle.empty()) return a.obstacle.empty();
    return a.gain() * a.times > b.gain() * b.times;
  });
  return ranked;
}

}  // namespace weft
