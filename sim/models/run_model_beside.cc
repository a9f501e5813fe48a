// Runs of a model that lie beside one another on a GPU: each as fast as the other lets it.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sim/models/concurrently.h"
#include "sim/models/needs.h"
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

Fusion moved(Fusion fusion, std::uint32_t by) {
  for (OpId* op : {&fusion.first, &fusion.second, &fusion.through}) {
    if (!op->is_none()) *op = OpId(op->value + by);
  }
  return fusion;
}

}  // namespace

bool ModelRun::slow_down(Timetable& timetable, Folding& folding, Mode mode,
                         const OnProgress& on_progress, PieceResults& all) {
  Slowdowns slowdowns;
  std::vector<std::vector<Beside>> beside(folding.folded.runs.size());
  SimTime before;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    const Folded timed = timetable.timed();
    const std::vector<Neighbours> neighbours = neighbours_in(timed, all.results, cluster_);
    if (neighbours.empty() && trial == 0) return true;
    add_slowdowns(neighbours, timetable, folding, mode, all, slowdowns);
    std::vector<std::vector<Beside>> now =
        beside_runs(timed, all.results, neighbours, slowdowns, cluster_);
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

void ModelRun::add_slowdowns(const std::vector<Neighbours>& neighbours, const Timetable& timetable,
                             const Folding& folding, Mode mode, const PieceResults& alone,
                             Slowdowns& slowdowns) {
  std::set<PairBeside> fresh;
  for (const Neighbours& one : neighbours) {
    if (slowdowns.count(one.pair) == 0) fresh.insert(one.pair);
  }
  if (fresh.empty()) return;
  const Folded timed = timetable.timed();
  const std::vector<PairBeside> pairs(fresh.begin(), fresh.end());
  std::vector<MutualSlowdown> found(pairs.size());
  const int at_a_time = this->at_a_time(pairs.size(), folding.folded, mode);
  const RunOptions options = options_of_each(at_a_time);
  concurrently(pairs.size(), at_a_time, [&](std::size_t i) {
    const auto ends = [&](PairGraph::Of of) -> std::optional<PairGraph::Ends> {
      const PairGraph pair(pairs[i], timed.pieces, alone.results, cluster_, of);
      if (of == PairGraph::Of::computing && !pair.repeats_what_computes()) {
        PairGraph::Ends known;
        for (const PlacedPiece& placed : pairs[i].computing) {
          known.computing.push_back(alone.results[placed.piece].time);
        }
        return known;
      }
      const Chosen chosen = chosen_in(pair, timetable, folding, mode);
      const ModelLowering how{.options = overlap_options(scenario_),
                              .cluster = pair.in_a_node() ? node_ : cluster_,
                              .mode = mode,
                              .fusions = chosen.fusions,
                              .ways = chosen.ways,
                              .exits = pair.exits(),
                              .releases = {},
                              .strategy = {},
                              .whole = &cluster_};
      const PieceResult result = result_or_known(pair.graph(), how, options, {});
      if (result.run.result.ending != Ending::finished) return std::nullopt;
      return pair.ends(result.run.result);
    };
    const auto together = ends(PairGraph::Of::both);
    auto apart = ends(PairGraph::Of::computing);
    const auto transfer = ends(PairGraph::Of::transfer);
    if (!together || !apart || !transfer) {  // a limit is met: as alone
      found[i].computing.assign(pairs[i].computing.size(), kAsAlone);
      return;
    }
    apart->transfer = transfer->transfer;
    found[i] = slowdown_from(*together, *apart);
  });
  for (std::size_t i = 0; i < pairs.size(); ++i) slowdowns.emplace(pairs[i], std::move(found[i]));
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
