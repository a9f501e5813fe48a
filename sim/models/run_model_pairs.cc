// A model's pairs of operator and collective: which could be overlapped, what each takes by itself
// in each mode, and what a mode overlaps.
#include <algorithm>
#include <utility>

#include "sim/models/alone.h"
#include "sim/models/collective_rules.h"
#include "sim/models/concurrently.h"
#include "sim/models/lower_model.h"
#include "sim/models/needs.h"
#include "sim/models/pair_knobs.h"
#include "sim/models/run_model.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

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

// The fusion among the operators of pair_alone().
Fusion fusion_alone(Fusion fusion, const ModelGraph& alone) {
  fusion.first = OpId(0);
  fusion.second = OpId(static_cast<std::uint32_t>(alone.ops.size()) - 1);
  if (!fusion.through.is_none()) fusion.through = OpId(1);
  return fusion;
}

WgShape wg_of_op(const ModelGraph& graph, const Fusion& fusion, const GpuSpec& gpu,
                 const KernelVersion& version) {
  const ModelOp& call = graph.ops[communicating(fusion)];
  const auto peers = static_cast<std::uint32_t>(graph.places[call.place].groups.front().size());
  return peer_grid(fused_operator(graph, fusion),
                   {std::get<CommunicationShape>(call.shape), fusion.travels, peers}, gpu, version)
      .grid->wg;
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
    if (into->by_rank.size() != more.by_rank.size()) into->by_rank.clear();
    for (std::size_t r = 0; r < into->by_rank.size(); ++r) {
      add(into->by_rank[r].time, more.by_rank[r].time);
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

}  // namespace

// Not where nothing may be overlapped: pairs by themselves take longer than many a model.
bool ModelRun::tries_pairs() const {
  const FuseOptions& fuse = scenario_.workload.fuse;
  return is_single() || fuse.automatic || !fuse.patterns.empty() ||
         !scenario_.workload.pairs.empty();
}

void ModelRun::find_candidates(Folding& folding) {
  if (!folding.pairs.empty()) return;
  if (!tries_pairs()) {
    folding.pairs.resize(folding.folded.pieces.size());
    return;
  }
  for (const Piece& piece : folding.folded.pieces) {
    std::vector<Pair>& pairs = folding.pairs.emplace_back();
    for (const Fusion& fusion : find_fusions(piece.graph(), cluster_.spec.gpu)) {
      pairs.push_back({fusion, is_single() ? 0 : candidate_of(piece, fusion)});
    }
  }
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (!std::exchange(tried_[i].measured, true)) fresh.push_back(i);
  }
  const int at_a_time = this->at_a_time(fresh.size(), folding.folded, Mode::mixed);
  const RunOptions options = options_of_each(at_a_time);
  std::vector<double> work;
  work.reserve(fresh.size());
  for (const std::size_t i : fresh) {
    work.push_back(at_a_time > 1 ? estimated_work(tried_[i].alone, scenario_, cluster_) : 0);
  }
  concurrently(work, at_a_time,
               [&](std::size_t i) { measure(candidates_[fresh[i]], tried_[fresh[i]], options); });
  if (!candidates_.empty()) count_times(folding);
}

std::uint32_t ModelRun::candidate_of(const Piece& piece, const Fusion& fusion) {
  ModelGraph alone = pair_alone(piece.graph(), fusion, cluster_of(piece));
  const auto known = std::find_if(tried_.begin(), tried_.end(), [&](const Tried& other) {
    return same_pair(other.alone, alone, cluster_);
  });
  const auto index = static_cast<std::uint32_t>(known - tried_.begin());
  if (known != tried_.end()) {
    if (!known->measured) add_times(known->alone, alone, ++known->found);
    return index;
  }
  Candidate& candidate = candidates_.emplace_back();
  candidate.name = name_of(piece.graph(), fusion);
  candidate.computing = piece.graph().ops[computing(fusion)].name;
  candidate.pattern = fusion.pattern;
  candidate.obstacle = fusion.obstacle;
  const ModelOp& call = piece.graph().ops[communicating(fusion)];
  candidate.is_uneven = !std::get<CommunicationShape>(call.shape).pair_bytes.empty();
  const std::vector<std::uint32_t> gpus = gpus_of(alone);
  const bool in_a_node =
      cluster_.node_of(GpuId(gpus.front())) == 0 && cluster_.node_of(GpuId(gpus.back())) == 0;
  tried_.push_back(
      {.alone = std::move(alone), .fusion = fusion, .found = 1, .in_a_node = in_a_node});
  return index;
}

RunResult ModelRun::result_alone(const Tried& tried, const PairWay& way,
                                 const RunOptions& options) const {
  ModelLowering how{
      .options = way.options, .cluster = tried.in_a_node ? node_ : cluster_, .mode = way.mode};
  if (!way.is_plain_bulk()) how.fusions = {fusion_alone(tried.fusion, tried.alone)};
  if (way.changes_bulk) how.ways = {way};
  return result_or_known(tried.alone, how, options, {}).run.result;
}

Duration ModelRun::exposed_alone(const Tried& tried, const RunOptions& options) const {
  const PairWay bulk{.options = overlap_options(scenario_)};
  Tried computing = tried;
  computing.alone = {};
  computing.alone.places = tried.alone.places;
  for (const ModelOp& op : tried.alone.ops) {
    if (communicates(op)) continue;
    ModelOp& kept = computing.alone.ops[computing.alone.add(op)];
    kept.after.clear();
    if (computing.alone.ops.size() > 1) kept.after = {OpId(0)};
  }
  const RunResult both = result_alone(tried, bulk, options);
  const RunResult one = result_alone(computing, bulk, options);
  const bool known = both.ending == Ending::finished && one.ending == Ending::finished;
  return known ? both.time - one.time : Duration{};
}

void ModelRun::measure(Candidate& candidate, const Tried& tried, const RunOptions& options) const {
  if (!candidate.obstacle.empty()) {
    candidate.exposed = exposed_alone(tried, options);
    return;
  }
  const ModelGraph& alone = tried.alone;
  const Cluster& cluster = tried.in_a_node ? node_ : cluster_;
  const Fusion fusion = fusion_alone(tried.fusion, alone);
  const auto time = [&](Mode mode) {
    return result_alone(tried, {.mode = mode, .options = overlap_options(scenario_)}, options).time;
  };
  candidate.bulk = time(Mode::bulk);
  const auto time_if_it_suits = [&](Mode mode) {
    return suits(alone, fusion, cluster, mode) ? time(mode) : Duration{};
  };
  const auto time_if_asked = [&](Mode mode) {
    return asks_for(mode) ? time_if_it_suits(mode) : Duration{};
  };
  candidate.chunked = time_if_it_suits(Mode::kernel);
  candidate.pipelined = time_if_asked(Mode::pipelined);
  candidate.role_split = time_if_asked(Mode::role_split);
  candidate.copy_fed = time_if_asked(Mode::copy_fed);
  candidate.fused = time(Mode::fused);
  const GpuSpec& gpu = cluster_.spec.gpu;
  const KernelVersion fused = fused_version(scenario_.fused);
  candidate.wgs_per_cu_bulk = resident(gpu, wg_of_op(alone, fusion, gpu, {}), {});
  candidate.wgs_per_cu_fused = resident(gpu, wg_of_op(alone, fusion, gpu, fused), fused);
}

// Mode mixed has all of them to choose from.
bool ModelRun::asks_for(Mode mode) const {
  return std::any_of(scenario_.modes.begin(), scenario_.modes.end(),
                     [mode](Mode asked) { return asked == mode || asked == Mode::mixed; });
}

void ModelRun::count_times(const Folding& folding) {
  std::vector<std::vector<std::int64_t>> times(candidates_.size());
  for (std::vector<std::int64_t>& by_gpu : times) by_gpu.assign(cluster_.gpus(), 0);
  for (const PieceRun& run : folding.folded.runs) {
    const ModelGraph& graph = folding.folded.pieces[run.piece].graph();
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

// Whether the mode overlaps the pair, by workload.fuse.
bool ModelRun::overlaps(const Candidate& candidate, Mode mode) const {
  const FuseOptions& options = scenario_.workload.fuse;
  const Duration overlapped = candidate.time_in(mode);
  if (mode == Mode::bulk || overlapped == Duration{}) return false;
  if (options.automatic) return overlapped < candidate.bulk;
  return std::find(options.patterns.begin(), options.patterns.end(), candidate.pattern) !=
         options.patterns.end();
}

// Of the modes in which it may be run.
Mode ModelRun::fastest_mode(const Candidate& candidate) const {
  Mode fastest = Mode::bulk;
  for (const Mode mode : modes_of(scenario_.workload.kind)) {
    const bool first = fastest == Mode::bulk;
    if (!overlaps(candidate, mode)) continue;
    if (first || candidate.time_in(mode) < candidate.time_in(fastest)) fastest = mode;
  }
  return fastest;
}

Duration ModelRun::time_without_rules(const Candidate& candidate) const {
  return candidate.time_in(fastest_mode(candidate));
}

// Whether some pair of the rule's name has all the knobs that it turns.
bool ModelRun::has_knobs(const PairRule& rule) const {
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].name != rule.pair || !candidates_[i].obstacle.empty()) continue;
    const Tried& one = tried_[i];
    const Fusion fusion = fusion_alone(one.fusion, one.alone);
    const Cluster& cluster = one.in_a_node ? node_ : cluster_;
    const OverlapOptions options = overlap_options(scenario_);
    if (idle_knobs_of(one.alone, fusion, cluster, options, rule).empty()) return true;
  }
  return false;
}

std::optional<Duration> ModelRun::time_by(const PairRule& rule, const RunOptions& options) const {
  if (!has_knobs(rule)) return std::nullopt;
  Duration sum;
  bool suits = false;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& one = candidates_[i];
    if (one.name != rule.pair || !one.obstacle.empty()) continue;
    const ModelGraph& alone = tried_[i].alone;
    const PairWay way = way_by(rule, options_of_pair(alone, fusion_alone(tried_[i].fusion, alone)));
    if (way.is_plain_bulk() || one.time_in(way.mode) == Duration{}) {
      sum += one.bulk * one.times;
      suits = suits || way.is_plain_bulk();
      continue;
    }
    const RunResult result = result_alone(tried_[i], way, options);
    if (result.ending != Ending::finished) return std::nullopt;
    sum += result.time * one.times;
    suits = true;
  }
  return suits ? std::optional(sum) : std::nullopt;
}

OverlapOptions ModelRun::options_of_pair(const ModelGraph& graph, const Fusion& fusion) const {
  OverlapOptions options = overlap_options(scenario_);
  const auto& call = std::get<CommunicationShape>(graph.ops[communicating(fusion)].shape);
  options.collective = options_of(call, options.collective);
  return options;
}

// In mode mixed: as the rule for the pair says, or in the fastest of the ways in which it may be.
PairWay ModelRun::way_of(const ModelGraph& graph, const Pair& pair) const {
  const Candidate& candidate = candidates_[pair.candidate];
  const std::uint64_t of_layer = graph.ops[computing(pair.fusion)].layer_rules;
  const PairRules& rules = scenario_.workload.pairs;
  PairWay way{.options = options_of_pair(graph, pair.fusion)};
  if (const PairRule* rule = rule_of(rules, candidate.name, candidate.pattern, of_layer)) {
    // A pair that the mode does not suit runs as without rules: its other knobs are of that mode.
    return candidate.time_in(rule->mode) == Duration{} ? way : way_by(*rule, way.options);
  }
  way.mode = fastest_mode(candidate);
  return way;
}

ModelRun::Chosen ModelRun::chosen(const ModelGraph& graph, const std::vector<Pair>& pairs,
                                  Mode mode) const {
  Chosen chosen;
  if (mode == Mode::bulk && !is_single()) return chosen;
  for (const Pair& pair : pairs) {
    if (is_single()) {
      chosen.fusions.push_back(pair.fusion);
      continue;
    }
    const Candidate& candidate = candidates_[pair.candidate];
    if (!candidate.obstacle.empty()) continue;
    if (mode == Mode::mixed) {
      const PairWay way = way_of(graph, pair);
      if (way.is_plain_bulk()) continue;
      chosen.ways.push_back(way);
    } else if (!overlaps(candidate, mode)) {
      continue;
    }
    chosen.fusions.push_back(pair.fusion);
  }
  return chosen;
}

}  // namespace weft
