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
  spec.stragglers.clear();
  spec.degraded_links.clear();
  return build_cluster(spec);
}

// The groups of the first node, where every group has its node: the others share nothing with them.
Groups groups_alone(const Groups& place, const Cluster& cluster) {
  const auto node_of = [&cluster](std::uint32_t gpu) { return cluster.node_of(GpuId(gpu)); };
  Groups first;
  const std::uint32_t node = node_of(place.groups.front().front());
  for (const std::vector<std::uint32_t>& group : place.groups) {
    const bool in_a_node = std::all_of(group.begin(), group.end(), [&](std::uint32_t gpu) {
      return node_of(gpu) == node_of(group.front());
    });
    if (!in_a_node) return place;
    if (node_of(group.front()) != node) continue;
    std::vector<std::uint32_t>& moved = first.groups.emplace_back(group);
    const std::uint32_t shift = node * static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
    for (std::uint32_t& gpu : moved) gpu -= shift;
  }
  return first;
}

// The two operators of a fusion by themselves. What computes is placed as its collective is.
ModelGraph pair_alone(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster) {
  ModelGraph alone;
  const PlaceId place =
      alone.add_place(groups_alone(graph.places[graph.ops[communicating(fusion)].place], cluster));
  for (const OpId id : {fusion.first, fusion.second}) {
    ModelOp op = graph.ops[id];
    op.place = place;
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

// Whether groups of the first lie as those of the second do, but for which nodes they are on.
bool lie_alike(const Groups& a, const Groups& b, const Cluster& cluster) {
  const auto nodes = [&cluster](const std::vector<std::uint32_t>& group) {
    std::vector<std::uint32_t> relative;
    relative.reserve(group.size());
    for (const std::uint32_t gpu : group) {
      relative.push_back(cluster.node_of(GpuId(gpu)) - cluster.node_of(GpuId(group.front())));
    }
    return relative;
  };
  return a.groups.size() == b.groups.size() &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(),
                    [&](const auto& x, const auto& y) { return nodes(x) == nodes(y); });
}

bool same_pair(const ModelGraph& a, const ModelGraph& b, const Cluster& cluster) {
  const auto alike = [&](const ModelOp& x, const ModelOp& y) {
    return x.name == y.name && x.shape == y.shape &&
           lie_alike(a.places[x.place], b.places[y.place], cluster);
  };
  return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), alike);
}

}  // namespace

ModelRun::ModelRun(const Scenario& scenario, const Cluster& cluster, Folded folded)
    : scenario_(scenario),
      cluster_(cluster),
      node_(one_node_of(cluster)),
      folded_(std::move(folded)) {}

void ModelRun::find_candidates() {
  if (!pairs_.empty()) return;
  std::vector<ModelGraph> tried;
  for (const Piece& piece : folded_.pieces) {
    pairs_.emplace_back();
    for (const Fusion& fusion : find_fusions(piece.graph, scenario_.cluster.gpu)) {
      ModelGraph alone = pair_alone(piece.graph, fusion, cluster_of(piece));
      const auto known = std::find_if(tried.begin(), tried.end(), [&](const ModelGraph& other) {
        return same_pair(other, alone, cluster_);
      });
      pairs_.back().push_back({fusion, static_cast<std::uint32_t>(known - tried.begin())});
      if (known != tried.end()) continue;
      Candidate& candidate = candidates_.emplace_back();
      candidate.name = alone.ops[OpId(0)].name + " + " + alone.ops[OpId(1)].name;
      candidate.pattern = fusion.pattern;
      candidate.obstacle = fusion.obstacle;
      const std::vector<std::uint32_t> gpus = gpus_of(alone);
      const bool in_a_node =
          cluster_.node_of(GpuId(gpus.front())) == 0 && cluster_.node_of(GpuId(gpus.back())) == 0;
      if (fusion.obstacle.empty()) {
        measure(candidate, alone, fusion, in_a_node ? node_ : cluster_);
      }
      tried.push_back(std::move(alone));
    }
  }
  count_times();
}

void ModelRun::measure(Candidate& candidate, const ModelGraph& alone, Fusion fusion,
                       const Cluster& cluster) const {
  fusion.first = OpId(0);
  fusion.second = OpId(1);
  const auto time = [&](Mode mode) {
    const TaskGraph tasks = lower_model(
        alone, {.scenario = scenario_, .cluster = cluster, .mode = mode, .fusions = {fusion}});
    return simulate(cluster, tasks, scenario_.run).time;
  };
  candidate.bulk = time(Mode::bulk);
  candidate.chunked = time(Mode::kernel);
  candidate.fused = time(Mode::fused);
  const GpuSpec& gpu = scenario_.cluster.gpu;
  const WgShape wg = wg_of_op(alone, fusion, gpu);
  candidate.wgs_per_cu_bulk = resident(gpu, wg, {});
  candidate.wgs_per_cu_fused = resident(gpu, wg, fused_version(scenario_.fused));
}

void ModelRun::count_times() {
  std::vector<std::vector<std::int64_t>> times(candidates_.size());
  for (std::vector<std::int64_t>& by_gpu : times) by_gpu.assign(cluster_.gpus(), 0);
  for (const PieceRun& run : folded_.runs) {
    const ModelGraph& graph = folded_.pieces[run.piece].graph;
    const std::uint32_t shift = first_gpu(run, cluster_);
    for (const Pair& pair : pairs_[run.piece]) {
      for (const auto& group : graph.places[graph.ops[pair.fusion.first].place].groups) {
        for (const std::uint32_t gpu : group) times[pair.candidate][gpu + shift] += 1;
      }
    }
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    candidates_[i].times = *std::max_element(times[i].begin(), times[i].end());
  }
}

std::vector<Fusion> ModelRun::chosen(std::uint32_t piece, Mode mode) const {
  const FuseOptions& options = scenario_.workload.fuse;
  std::vector<Fusion> fusions;
  for (const Pair& pair : pairs_[piece]) {
    const Candidate& candidate = candidates_[pair.candidate];
    if (!candidate.obstacle.empty()) continue;
    const Duration overlapped = mode == Mode::kernel ? candidate.chunked : candidate.fused;
    const bool asked = std::find(options.patterns.begin(), options.patterns.end(),
                                 candidate.pattern) != options.patterns.end();
    if (options.automatic ? overlapped < candidate.bulk : asked) fusions.push_back(pair.fusion);
  }
  return fusions;
}

TaskGraph ModelRun::lowered(std::uint32_t piece, Mode mode) const {
  const Piece& what = folded_.pieces[piece];
  return lower_model(what.graph, {.scenario = scenario_,
                                  .cluster = cluster_of(what),
                                  .mode = mode,
                                  .fusions = chosen(piece, mode)});
}

std::string ModelRun::tasks_text(Mode mode) {
  find_candidates();
  std::string text;
  for (std::uint32_t i = 0; i < folded_.pieces.size(); ++i) {
    const auto runs = std::count_if(folded_.runs.begin(), folded_.runs.end(),
                                    [i](const PieceRun& run) { return run.piece == i; });
    text += fmt::format("piece {} of {}, run {} times\n{}", i + 1, folded_.pieces.size(), runs,
                        to_text(lowered(i, mode)));
  }
  return text;
}

Recorded ModelRun::result_of(std::uint32_t piece, Mode mode, const OnProgress& on_progress) {
  const bool alike = mode == Mode::bulk || chosen(piece, mode).empty();
  const auto known = unfused_.find(piece);
  if (alike && known != unfused_.end()) {
    Recorded again = known->second;
    again.result.events = 0;  // nothing is simulated
    return again;
  }
  const Cluster& cluster = cluster_of(folded_.pieces[piece]);
  const TaskGraph tasks = lowered(piece, mode);
  Recorded done;
  if (record_) {
    done = simulate_and_record(cluster, tasks, scenario_.run, *record_, on_progress);
  } else {
    done.result = simulate(cluster, tasks, scenario_.run, on_progress);
  }
  if (alike) unfused_.emplace(piece, done);
  return done;
}

void ModelRun::record(const RecordOptions& what) {
  record_ = what;
  record_->most = what.most / folded_.pieces.size();
  unfused_.clear();
}

RunResult ModelRun::run(Mode mode, const OnProgress& on_progress) {
  find_candidates();
  std::vector<RunResult> results;
  std::vector<Recording> recordings;
  for (std::uint32_t i = 0; i < folded_.pieces.size(); ++i) {
    Recorded done = result_of(i, mode, on_progress);
    results.push_back(std::move(done.result));
    recordings.push_back(std::move(done.recording));
    results.back().mode = mode;
    if (results.back().ending != Ending::finished) return results.back();
  }
  if (folded_.pieces.size() == 1 && folded_.runs.size() == 1 && !folded_.pieces[0].in_a_node) {
    if (record_) recording_ = alone(std::move(recordings.front()));
    return results.front();
  }
  RunResult result = put_together(folded_, results, cluster_);
  if (record_) recording_ = played(folded_, results, std::move(recordings), cluster_);
  result.mode = mode;
  return result;
}

std::vector<Candidate> ModelRun::candidates() {
  find_candidates();
  std::vector<Candidate> ranked = candidates_;
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
    if (a.obstacle.empty() != b.obstacle.empty()) return a.obstacle.empty();
    return a.gain() * a.times > b.gain() * b.times;
  });
  return ranked;
}

}  // namespace weft
