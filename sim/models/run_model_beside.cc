// Runs of a model that lie beside one another on a GPU: each as fast as the other lets it.
#include <algorithm>
#include <set>
#include <utility>

#include "sim/models/concurrently.h"
#include "sim/models/needs.h"
#include "sim/models/run_model.h"

namespace weft {
namespace {

// What lies beside a run depends on how fast all go, and the other way round: times are found by
// trial. What is earlier is right first, so few are needed; each changes them by a tenth of the last.
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
    if (neighbours.empty()) return true;
    add_slowdowns(neighbours, timetable, folding, mode, all, slowdowns);
    std::vector<std::vector<Beside>> now = beside_runs(timed, all.results, neighbours, slowdowns);
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
    const PairTogether pair(pairs[i], timed.pieces, alone.results, cluster_);
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
    const PieceResult together = result_or_known(pair.graph(), how, options, {});
    if (together.run.result.ending != Ending::finished) {  // a limit is met: as alone
      found[i].computing.assign(pairs[i].computing.size(), kAsAlone);
      return;
    }
    found[i] = pair.slowdown(together.run.result);
    if (getenv("DBG")) {
      auto& p = pairs[i];
      fprintf(stderr, "pair T %s %.1f us slow %.3f with", timed.pieces[p.transfer.piece].graph().ops[OpId(0)].name.c_str(), to_microseconds(alone.results[p.transfer.piece].time), double(found[i].transfer)/kAsAlone);
      for (size_t j=0;j<p.computing.size();++j) fprintf(stderr, " [%s.. %u@%u %.1f us slow %.3f]", timed.pieces[p.computing[j].piece].graph().ops[OpId(0)].name.c_str(), p.computing[j].piece, p.computing[j].node, to_microseconds(alone.results[p.computing[j].piece].time), double(found[i].computing[j])/kAsAlone);
      fprintf(stderr, "\n");
    }
  });
  for (std::size_t i = 0; i < pairs.size(); ++i) slowdowns.emplace(pairs[i], std::move(found[i]));
}

// What a mode overlaps in each of them.
ModelRun::Chosen ModelRun::chosen_in(const PairTogether& pair, const Timetable& timetable,
                                     const Folding& folding, Mode mode) const {
  Chosen all;
  for (const PairTogether::Part& part : pair.parts()) {
    const std::uint32_t piece = timetable.piece_of(part.piece);
    const Chosen own = chosen(folding.folded.pieces[piece].graph(), folding.pairs[piece], mode);
    for (const Fusion& fusion : own.fusions) all.fusions.push_back(moved(fusion, part.first));
    all.ways.insert(all.ways.end(), own.ways.begin(), own.ways.end());
  }
  return all;
}

}  // namespace weft
