// Runs of a model that lie beside one another on a GPU: each as fast as the other lets it.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "sim/models/concurrently.h"
#include "sim/models/needs.h"
#include "sim/models/progress_of_all.h"
#include "sim/models/run_model.h"

namespace weft {
namespace {

// What lies beside a run depends on how fast all go, and the other way round: times are found by
// trial. What is earlier is right first, so few are needed; each changes them by a tenth of the
// last.
constexpr int kMostTrials = 8;

SimTime end_of_all(const Folded& timed, const std::vector<RunResult>& pieces) {
  SimTime end;
  for (const PieceRun& run : timed.runs) end = later(end, end_of(run, pieces));
  return end;
}

constexpr std::size_t kRunsOfPair = 3;  // by PairGraph::Of

// Null: none.
const RunResult* unfinished(const std::array<RunResult, kRunsOfPair>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [](const RunResult& run) {
    return run.ending != Ending::finished;
  });
  return found == runs.end() ? nullptr : &*found;
}

Fusion moved(Fusion fusion, std::uint32_t by) {
  for (OpId* op : {&fusion.first, &fusion.second, &fusion.through}) {
    if (!op->is_none()) *op = OpId(op->value + by);
  }
  return fusion;
}

}  // namespace

bool ModelRun::slow_down(Timetable& timetable, Folding& folding, Mode mode,
                         const OnProgress& on_progress, PieceResults& all) {
  const Folded first = timetable.timed();
  FindNeighbours find(first.pieces, all.results, cluster_);
  Slowdowns slowdowns;
  std::vector<std::vector<Beside>> beside(first.runs.size());
  SimTime before;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    const Folded timed = timetable.timed();
    const std::vector<Neighbours> neighbours = find.in(timed.runs);
    if (neighbours.empty() && trial == 0) return true;
    if (auto unfinished =
            add_slowdowns(neighbours, timetable, folding, mode, on_progress, all, slowdowns)) {
      all.results.push_back(*std::move(unfinished));
      return false;
    }
    std::vector<std::vector<Beside>> now = find.beside_runs(timed.runs, neighbours, slowdowns);
    const SimTime end = end_of_all(timed, all.results);
    const std::int64_t changed = std::abs((end - before).count());
    if (trial > 1 && changed < end.count() / 10'000) break;
    before = end;
    beside = std::move(now);
    timetable.again(beside, true);
    timetable.next(all.results);
  }
  timetable.again(std::move(beside), false);
  return complete(timetable, folding, mode, on_progress, all);
}

std::optional<RunResult> ModelRun::add_slowdowns(const std::vector<Neighbours>& neighbours,
                                                 const Timetable& timetable, const Folding& folding,
                                                 Mode mode, const OnProgress& on_progress,
                                                 const PieceResults& alone, Slowdowns& slowdowns) {
  std::set<PairBeside> fresh;
  for (const Neighbours& one : neighbours) {
    if (slowdowns.count(one.pair) == 0) fresh.insert(one.pair);
  }
  if (fresh.empty()) return std::nullopt;
  const Folded timed = timetable.timed();
  const std::vector<PairBeside> pairs(fresh.begin(), fresh.end());
  Bytes most;
  for (const PairBeside& pair : pairs) {
    const PairGraph both(pair, timed.pieces, alone.results, cluster_, PairGraph::Of::both);
    const Needs needs = estimated_needs(unfolded(both.graph()).pieces, scenario_, cluster_, mode);
    most = std::max(most, needs.memory);
  }
  if (auto refused = too_large_together(
          most, mode, "sums of gradients or sends and the layers beside them slow one another")) {
    return refused;
  }
  const int at_a_time = this->at_a_time(pairs.size(), most);
  const RunOptions options = options_of_each(at_a_time);
  ProgressOfAll progress(kRunsOfPair * pairs.size(), on_progress);
  std::vector<std::array<RunResult, kRunsOfPair>> results(pairs.size());
  std::vector<MutualSlowdown> found(pairs.size());
  concurrently(pairs.size(), at_a_time, [&](std::size_t i) {
    const auto ends = [&](PairGraph::Of of) {
      const PairGraph pair(pairs[i], timed.pieces, alone.results, cluster_, of);
      if (auto known = pair.ends_alone(alone.results)) return *std::move(known);
      const auto run = static_cast<std::size_t>(of);
      RunResult& result = results[i][run];
      result = result_of_pair(pair, chosen_in(pair, timetable, folding, mode), mode, options,
                              progress.of(kRunsOfPair * i + run));
      return result.ending == Ending::finished ? pair.ends(result) : PairGraph::Ends();
    };
    const PairGraph::Ends together = ends(PairGraph::Of::both);
    PairGraph::Ends apart = ends(PairGraph::Of::computing);
    apart.transfer = ends(PairGraph::Of::transfer).transfer;
    if (unfinished(results[i]) == nullptr) found[i] = slowdown_from(together, apart);
  });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (const RunResult* result = unfinished(results[i])) return *result;
    slowdowns.emplace(pairs[i], std::move(found[i]));
  }
  return std::nullopt;
}

// A limit of simulated time is one of the model's: a pair repeats what is shorter.
RunResult ModelRun::result_of_pair(const PairGraph& pair, const Chosen& chosen, Mode mode,
                                   RunOptions options, const OnProgress& on_progress) const {
  options.max_time = times_saturating(options.max_time, pair.most_times());
  const ModelLowering how{.options = overlap_options(scenario_),
                          .cluster = pair.in_a_node() ? node_ : cluster_,
                          .mode = mode,
                          .fusions = chosen.fusions,
                          .ways = chosen.ways,
                          .exits = pair.exits(),
                          .releases = {},
                          .strategy = {},
                          .whole = &cluster_};
  return result_or_known(pair.graph(), how, options, on_progress).run.result;
}

// What a mode overlaps in each of them.
ModelRun::Chosen ModelRun::chosen_in(const PairGraph& pair, const Timetable& timetable,
                                     const Folding& folding, Mode mode) const {
  Chosen all;
  for (const PairGraph::Part& part : pair.parts()) {
    const std::uint32_t piece = timetable.piece_of(part.piece);
    const Chosen own = chosen(folding.folded.pieces[piece].graph(), folding.pairs[piece], mode);
    for (const Fusion& fusion : own.fusions) all.fusions.push_back(moved(fusion, part.first));
    all.ways.insert(all.ways.end(), own.ways.begin(), own.ways.end());
  }
  return all;
}

}  // namespace weft
