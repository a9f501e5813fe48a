// Runs of a model that lie beside one another on a GPU: each as fast as the other lets it.
#include <algorithm>
#include <atomic>
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

// All times that it can have, of which later ones can still be computed.
constexpr Duration kAnyTime = picoseconds(INT64_MAX / 2);

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
  std::vector<std::optional<RunResult>> unfinished(pairs.size());
  std::atomic<std::size_t> first_unfinished = pairs.size();  // of those known
  std::vector<MutualSlowdown> found(pairs.size());
  concurrently(pairs.size(), at_a_time, [&](std::size_t i) {
    if (i > first_unfinished) return;
    auto computing = PairGraph::Computing::beginning;
    bool is_enough = true;
    const auto ends = [&](PairGraph::Of of) -> std::optional<PairGraph::Ends> {
      const PairGraph pair(pairs[i], timed.pieces, alone.results, cluster_, of, computing);
      if (auto known = pair.ends_alone(alone.results)) return known;
      const std::size_t run = kRunsOfPair * i + static_cast<std::size_t>(of);
      RunResult result = result_of_pair(pair, chosen_in(pair, timetable, folding, mode), mode,
                                        options, progress.of(run));
      if (result.ending == Ending::finished) {
        PairGraph::Ends when = pair.ends(result);
        is_enough = of != PairGraph::Of::both || pair.is_enough(when);
        return when;
      }
      unfinished[i] = std::move(result);
      keep_least(first_unfinished, i);
      return std::nullopt;
    };
    auto together = ends(PairGraph::Of::both);
    if (!is_enough) {
      computing = PairGraph::Computing::whole;
      together = ends(PairGraph::Of::both);
    }
    auto apart = together ? ends(PairGraph::Of::computing) : std::nullopt;
    const auto transfer = apart ? ends(PairGraph::Of::transfer) : std::nullopt;
    if (!transfer) return;
    apart->transfer = transfer->transfer;
    found[i] = slowdown_from(*together, *apart);
  });
  if (first_unfinished < pairs.size()) return std::move(unfinished[first_unfinished]);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    slowdowns.emplace(pairs[i], std::move(found[i]));
  }
  return std::nullopt;
}

// Limits are those of what the scenario describes, and a pair does more than a piece of it: its
// time is none of the model's, and each of the pieces in it may take as many events as one alone.
RunResult ModelRun::result_of_pair(const PairGraph& pair, const Chosen& chosen, Mode mode,
                                   RunOptions options, const OnProgress& on_progress) const {
  options.max_time = kAnyTime;
  options.max_events = times_saturating(options.max_events, pair.pieces());
  const ModelLowering how{.options = overlap_options(scenario_),
                          .cluster = pair.in_a_node() ? node_ : cluster_,
                          .mode = mode,
                          .fusions = chosen.fusions,
                          .ways = chosen.ways,
                          .exits = pair.exits(),
                          .releases = {},
                          .strategy = {},
                          .whole = &cluster_};
  RunResult result = result_or_known(pair.graph(), how, options, on_progress).run.result;
  result.mode = mode;
  return result;
}

// What a mode overlaps in each of them.
ModelRun::Chosen ModelRun::chosen_in(const PairGraph& pair, const Timetable& timetable,
                                     const Folding& folding, Mode mode) const {
  Chosen all;
  for (const PairGraph::Part& part : pair.parts()) {
    const std::uint32_t piece = timetable.piece_of(part.piece);
    const Chosen own = chosen(folding.folded.pieces[piece].graph(), folding.pairs[piece], mode);
    for (std::size_t i = 0; i < own.fusions.size(); ++i) {
      const Fusion& fusion = own.fusions[i];
      if (std::max(fusion.first, fusion.second).value >= part.operators) continue;
      all.fusions.push_back(moved(fusion, part.first));
      if (i < own.ways.size()) all.ways.push_back(own.ways[i]);
    }
  }
  return all;
}

}  // namespace weft
