#include "sim/models/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/lower_model.h"
#include "sim/models/needs.h"
#include "sim/models/schedule.h"
#include "sim/models/single_operator.h"

namespace weft {
namespace {

Cluster one_node_of(const Cluster& cluster) {
  ClusterSpec spec = cluster.spec;
  spec.nodes = 1;
  spec.scale_out.reset();
  spec.nic.reset();
  spec.stragglers.clear();
  spec.degraded_links.clear();
  Cluster node = build_cluster(spec);
  node.choices_of = &cluster.choices();
  return node;
}

// Only the groups of the first node, if each group is within a node: others share nothing with
// them.
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

// The operators of a fusion in order: two or three.
std::vector<OpId> operators_of(const Fusion& fusion) {
  if (fusion.through.is_none()) return {fusion.first, fusion.second};
  return {fusion.first, fusion.through, fusion.second};
}

// The operators of a fusion by themselves. Computing ones are placed as the collective is.
ModelGraph pair_alone(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster) {
  ModelGraph alone;
  const PlaceId place =
      alone.add_place(groups_alone(graph.places[graph.ops[communicating(fusion)].place], cluster));
  for (const OpId id : operators_of(fusion)) {
    ModelOp op = graph.ops[id];
    op.place = place;
    op.after.clear();
    if (!alone.ops.empty()) op.after = {OpId(static_cast<std::uint32_t>(alone.ops.size()) - 1)};
    op.block = BlockId::none();
    op.beside.reset();
    alone.add(std::move(op));
  }
  return alone;
}

WgShape wg_of_op(const ModelGraph& graph, const Fusion& fusion, const GpuSpec& gpu,
                 const KernelVersion& version) {
  const ModelOp& call = graph.ops[communicating(fusion)];
  const auto peers = static_cast<std::uint32_t>(graph.places[call.place].groups.front().size());
  return peer_grid(fused_operator(graph, fusion),
                   {std::get<CommunicationShape>(call.shape), fusion.travels, peers}, gpu, version)
      .grid->wg;
}

// Whether the groups of both span nodes in the same way, whichever nodes these are.
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

bool same_shape(const OpShape& a, const OpShape& b) {
  const auto* recorded = std::get_if<RecordedShape>(&a);
  const auto* other = std::get_if<RecordedShape>(&b);
  return recorded != nullptr && other != nullptr ? same_kernel(*recorded, *other) : a == b;
}

// Moves the mean of recorded times towards those of the `found`th pair.
void add_times(ModelGraph& mean, const ModelGraph& pair, std::int64_t found) {
  const auto add = [found](Duration& time, Duration more) {
    time += picoseconds((more - time).count() / found);
  };
  for (std::uint32_t i = 0; i < mean.ops.size(); ++i) {
    auto* into = std::get_if<RecordedShape>(&mean.ops[OpId(i)].shape);
    if (into == nullptr) continue;
    const auto& more = std::get<RecordedShape>(pair.ops[OpId(i)].shape);
    add(into->time, more.time);
    into->beside = into->beside || more.beside;
    if (into->time_by_rank.size() != more.time_by_rank.size()) into->time_by_rank.clear();
    for (std::size_t r = 0; r < into->time_by_rank.size(); ++r) {
      add(into->time_by_rank[r], more.time_by_rank[r]);
    }
  }
}

bool same_pair(const ModelGraph& a, const ModelGraph& b, const Cluster& cluster) {
  const auto alike = [&](const ModelOp& x, const ModelOp& y) {
    return x.name == y.name && same_shape(x.shape, y.shape) &&
           lie_alike(a.places[x.place], b.places[y.place], cluster);
  };
  return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), alike);
}

FirstOperators first_operators(const TaskGraph& tasks, const Cluster& cluster) {
  FirstOperators first(cluster.gpus(), OperatorId::none());
  for (const Kernel& kernel : tasks.kernels) {
    OperatorId& known = first[kernel.gpu.value];
    if (known.is_none()) known = kernel.op;
  }
  return first;
}

}  // namespace

ModelRun::ModelRun(const Scenario& scenario, const Cluster& cluster, const ModelGraph& graph)
    : scenario_(scenario), cluster_(cluster), graph_(graph), node_(one_node_of(cluster)) {
  folding({});
}

// The model is cut into pieces when this folding is first needed.
ModelRun::Folding& ModelRun::folding(const Joined& joined) {
  const bool whole = std::none_of(joined.begin(), joined.end(), [](bool is) { return is; });
  const auto [known, added] = folding_.try_emplace(whole ? Joined{} : joined);
  if (added) {
    known->second.folded =
        scenario_.run.repeats == Repeats::each ? unfolded(graph_) : fold(graph_, cluster_, joined);
  }
  return known->second;
}

void ModelRun::find_candidates(Folding& folding) {
  if (!folding.pairs.empty()) return;
  for (const Piece& piece : folding.folded.pieces) {
    std::vector<Pair>& pairs = folding.pairs.emplace_back();
    for (const Fusion& fusion : find_fusions(piece.graph, cluster_.spec.gpu)) {
      pairs.push_back({fusion, is_single() ? 0 : candidate_of(piece, fusion)});
    }
  }
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (tried_[i].measured) continue;
    tried_[i].measured = true;
    if (candidates_[i].obstacle.empty()) measure(candidates_[i], tried_[i]);
  }
  if (!candidates_.empty()) count_times(folding);
}

std::uint32_t ModelRun::candidate_of(const Piece& piece, const Fusion& fusion) {
  ModelGraph alone = pair_alone(piece.graph, fusion, cluster_of(piece));
  const auto known = std::find_if(tried_.begin(), tried_.end(), [&](const Tried& other) {
    return same_pair(other.alone, alone, cluster_);
  });
  const auto index = static_cast<std::uint32_t>(known - tried_.begin());
  if (known != tried_.end()) {
    if (!known->measured) add_times(known->alone, alone, ++known->found);
    return index;
  }
  Candidate& candidate = candidates_.emplace_back();
  for (const ModelOp& op : alone.ops) {
    candidate.name += (candidate.name.empty() ? "" : " + ") + op.name;
  }
  candidate.pattern = fusion.pattern;
  candidate.obstacle = fusion.obstacle;
  const std::vector<std::uint32_t> gpus = gpus_of(alone);
  const bool in_a_node =
      cluster_.node_of(GpuId(gpus.front())) == 0 && cluster_.node_of(GpuId(gpus.back())) == 0;
  tried_.push_back(
      {.alone = std::move(alone), .fusion = fusion, .found = 1, .in_a_node = in_a_node});
  return index;
}

void ModelRun::measure(Candidate& candidate, const Tried& tried) const {
  const ModelGraph& alone = tried.alone;
  const Cluster& cluster = tried.in_a_node ? node_ : cluster_;
  Fusion fusion = tried.fusion;
  fusion.first = OpId(0);
  fusion.second = OpId(static_cast<std::uint32_t>(alone.ops.size()) - 1);
  if (!fusion.through.is_none()) fusion.through = OpId(1);
  const auto time = [&](Mode mode, const std::vector<Fusion>& fusions) {
    const TaskGraph tasks = lower_model(alone, {.options = overlap_options(scenario_),
                                                .cluster = cluster,
                                                .mode = mode,
                                                .fusions = fusions});
    return simulate(cluster, tasks, scenario_.run).time;
  };
  candidate.bulk = time(Mode::bulk, {});
  const auto time_if_it_suits = [&](Mode mode) {
    return suits(alone, fusion, cluster, mode) ? time(mode, {fusion}) : Duration{};
  };
  const auto time_if_asked = [&](Mode mode) {
    return asks_for(mode) ? time_if_it_suits(mode) : Duration{};
  };
  candidate.chunked = time_if_it_suits(Mode::kernel);
  candidate.pipelined = time_if_asked(Mode::pipelined);
  candidate.role_split = time_if_asked(Mode::role_split);
  candidate.copy_fed = time_if_asked(Mode::copy_fed);
  candidate.fused = time(Mode::fused, {fusion});
  const GpuSpec& gpu = cluster_.spec.gpu;
  const KernelVersion fused = fused_version(scenario_.fused);
  candidate.wgs_per_cu_bulk = resident(gpu, wg_of_op(alone, fusion, gpu, {}), {});
  candidate.wgs_per_cu_fused = resident(gpu, wg_of_op(alone, fusion, gpu, fused), fused);
}

bool ModelRun::asks_for(Mode mode) const {
  return std::find(scenario_.modes.begin(), scenario_.modes.end(), mode) != scenario_.modes.end();
}

void ModelRun::count_times(const Folding& folding) {
  std::vector<std::vector<std::int64_t>> times(candidates_.size());
  for (std::vector<std::int64_t>& by_gpu : times) by_gpu.assign(cluster_.gpus(), 0);
  for (const PieceRun& run : folding.folded.runs) {
    const ModelGraph& graph = folding.folded.pieces[run.piece].graph;
    const std::uint32_t shift = first_gpu(run, cluster_);
    for (const Pair& pair : folding.pairs[run.piece]) {
      for (const auto& group : graph.places[graph.ops[pair.fusion.first].place].groups) {
        for (const std::uint32_t gpu : group) times[pair.candidate][gpu + shift] += 1;
      }
    }
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    candidates_[i].times = *std::max_element(times[i].begin(), times[i].end());
  }
}

std::vector<Fusion> ModelRun::chosen(const std::vector<Pair>& pairs, Mode mode) const {
  const FuseOptions& options = scenario_.workload.fuse;
  std::vector<Fusion> fusions;
  if (mode == Mode::bulk && !is_single()) return fusions;
  for (const Pair& pair : pairs) {
    if (is_single()) {
      fusions.push_back(pair.fusion);
      continue;
    }
    const Candidate& candidate = candidates_[pair.candidate];
    if (!candidate.obstacle.empty()) continue;
    const Duration overlapped = candidate.time_in(mode);
    if (overlapped == Duration{}) continue;
    const bool asked = std::find(options.patterns.begin(), options.patterns.end(),
                                 candidate.pattern) != options.patterns.end();
    if (options.automatic ? overlapped < candidate.bulk : asked) fusions.push_back(pair.fusion);
  }
  return fusions;
}

TaskGraph ModelRun::lowered(const Piece& piece, const std::vector<Fusion>& fusions,
                            Mode mode) const {
  return lower_model(piece.graph, {.options = overlap_options(scenario_),
                                   .cluster = cluster_of(piece),
                                   .mode = mode,
                                   .fusions = fusions,
                                   .exits = piece.exits,
                                   .strategy = strategy_of(scenario_, mode, partition_.cus),
                                   .whole = &cluster_});
}

std::string ModelRun::tasks_text(Mode mode) {
  partition_ = choose_partition(scenario_, cluster_, mode);
  Folding& apart = folding({});
  find_candidates(apart);
  const Folded& folded = apart.folded;
  std::string text;
  for (std::uint32_t i = 0; i < folded.pieces.size(); ++i) {
    const auto runs = std::count_if(folded.runs.begin(), folded.runs.end(),
                                    [i](const PieceRun& run) { return run.piece == i; });
    if (!is_single()) {
      text += fmt::format("piece {} of {}, run {} times\n", i + 1, folded.pieces.size(), runs);
    }
    text += to_text(lowered(folded.pieces[i], chosen(apart.pairs[i], mode), mode));
  }
  return text;
}

ModelRun::PieceResult ModelRun::result_of(Folding& folding, std::uint32_t id, Mode mode,
                                          const OnProgress& on_progress) {
  const std::vector<Fusion> fusions = chosen(folding.pairs[id], mode);
  const bool alike = fusions.empty() && !is_single();
  const auto known = folding.unfused.find(id);
  if (alike && known != folding.unfused.end()) {
    PieceResult again = known->second;
    again.run.result.events = 0;  // nothing is simulated again
    return again;
  }
  const Piece& piece = folding.folded.pieces[id];
  const TaskGraph tasks = lowered(piece, fusions, mode);
  PieceResult done;
  done.first_operators = first_operators(tasks, cluster_of(piece));
  if (record_) {
    RecordOptions record = *record_;
    record.most /= folding.folded.pieces.size();
    done.run = simulate_and_record(cluster_of(piece), tasks, scenario_.run, record, on_progress);
  } else {
    done.run.result = simulate(cluster_of(piece), tasks, scenario_.run, on_progress);
  }
  if (alike) folding.unfused.emplace(id, done);
  return done;
}

void ModelRun::record(const RecordOptions& what) {
  record_ = what;
  for (auto& [joined, folding] : folding_) folding.unfused.clear();
}

// Up to the first piece that does not finish.
ModelRun::PieceResults ModelRun::run_pieces(Folding& folding, Mode mode,
                                            const OnProgress& on_progress) {
  PieceResults all;
  for (std::uint32_t i = 0; i < folding.folded.pieces.size(); ++i) {
    PieceResult done = result_of(folding, i, mode, on_progress);
    done.run.result.mode = mode;
    all.results.push_back(std::move(done.run.result));
    all.first_operators.push_back(std::move(done.first_operators));
    all.recordings.push_back(std::move(done.run.recording));
    if (all.results.back().ending != Ending::finished) break;
  }
  return all;
}

RunResult ModelRun::too_large(const Folded& folded, Mode mode) const {
  const Bytes needed = estimated_needs(folded.pieces, scenario_, cluster_, mode).memory;
  RunResult result;
  result.mode = mode;
  if (needed <= scenario_.run.max_memory) return result;
  constexpr std::int64_t kMebi = 1024 * 1024;
  result.ending = Ending::memory_limit;
  result.stopped_because = fmt::format(
      "run.max_memory: some exchanges outlast the layers that they overlap, so these have to be "
      "simulated together, which is estimated to need {0} MiB; if the machine has them, --set "
      "'run.max_memory={0} MiB'",
      (needed.count() + kMebi - 1) / kMebi);
  return result;
}

// Runs pieces separately; if their runs meet, joins these and runs again, until none meet.
RunResult ModelRun::run(Mode mode, const OnProgress& on_progress) {
  partition_ = choose_partition(scenario_, cluster_, mode);
  Joined joined(graph_.blocks.size());
  while (true) {
    Folding& folding = this->folding(joined);
    const Folded& folded = folding.folded;
    find_candidates(folding);
    PieceResults pieces = run_pieces(folding, mode, on_progress);
    if (pieces.results.back().ending != Ending::finished) return std::move(pieces.results.back());
    if (folded.pieces.size() == 1 && folded.runs.size() == 1 && !folded.pieces[0].in_a_node) {
      if (record_) recording_ = alone(std::move(pieces.recordings.front()));
      return std::move(pieces.results.front());
    }
    const Joined more = join_where_runs_meet(folded, pieces.results, cluster_, joined);
    if (more == joined) {
      RunResult result = put_together(folded, pieces.results, pieces.first_operators, cluster_);
      if (record_) {
        recording_ = played(folded, pieces.results, std::move(pieces.recordings), cluster_);
      }
      result.mode = mode;
      return result;
    }
    folding.unfused.clear();  // recordings are large and useless if runs meet
    joined = more;
    RunResult refused = too_large(this->folding(joined).folded, mode);
    if (refused.ending != Ending::finished) return refused;
  }
}

std::vector<Candidate> ModelRun::candidates() {
  find_candidates(folding({}));
  std::vector<Candidate> ranked = candidates_;
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
    if (a.obstacle.empty() != b.obstacle.empty()) return a.obstacle.empty();
    return a.gain() * a.times > b.gain() * b.times;
  });
  return ranked;
}

}  // namespace weft
