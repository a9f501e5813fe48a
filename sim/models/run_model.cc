#include "sim/models/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "sim/core/assert.h"
#include "sim/engine/known_runs.h"
#include "sim/models/concurrently.h"
#include "sim/models/needs.h"
#include "sim/models/piece_key.h"
#include "sim/models/progress_of_all.h"
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
  node.gpu_of_choices = cluster.gpu_of_choices;
  return node;
}

FirstOperators first_operators(const TaskGraph& tasks, const Cluster& cluster) {
  FirstOperators first(cluster.gpus(), OperatorId::none());
  for (const Kernel& kernel : tasks.kernels) {
    OperatorId& known = first[kernel.gpu.value];
    if (known.is_none()) known = kernel.op;
  }
  return first;
}

// Pieces have kept to it one by one, and take longer in turn.
void end_at_limit(RunResult& model, Duration max_time) {
  if (model.time <= max_time) return;
  model.ending = Ending::time_limit;
  model.stopped_because = fmt::format(
      "run.max_time: reached {:.3f} us of the {:.3f} us that the model takes; raise the limit if "
      "this is expected",
      to_microseconds(max_time), to_microseconds(model.time));
}

}  // namespace

ModelRun::ModelRun(const Scenario& scenario, const Cluster& cluster, const ModelGraph& graph)
    : scenario_(scenario), cluster_(cluster), graph_(graph), node_(one_node_of(cluster)) {
  if (scenario.run.known != nullptr && !is_single()) {
    machine_ = machine_key(cluster);
    machine_node_ = machine_key(node_, *machine_);
  }
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

ModelLowering ModelRun::lowering_of(const Piece& piece, const Chosen& chosen, Mode mode,
                                    const std::vector<Release>& releases) const {
  return {.options = overlap_options(scenario_),
          .cluster = cluster_of(piece),
          .mode = mode,
          .fusions = chosen.fusions,
          .ways = chosen.ways,
          .exits = piece.exits,
          .releases = releases,
          .strategy = strategy_of(scenario_, mode, partition_.cus),
          .whole = &cluster_};
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
    const Piece& piece = folded.pieces[i];
    const Chosen chosen = this->chosen(piece.graph(), apart.pairs[i], mode);
    text += to_text(lower_model(piece.graph(), lowering_of(piece, chosen, mode, {})));
  }
  return text;
}

ModelRun::PieceResult ModelRun::result_of(const Folding& folding, const TimedPiece& timed,
                                          Mode mode, const RunOptions& options,
                                          const OnProgress& on_progress) const {
  const Piece& piece = folding.folded.pieces[timed.piece];
  const Chosen chosen = this->chosen(piece.graph(), folding.pairs[timed.piece], mode);
  const bool alike = chosen.fusions.empty() && !is_single();
  const auto known = folding.unfused.find(timed);
  if (alike && known != folding.unfused.end()) {
    PieceResult again = known->second;
    again.run.result.events = 0;  // nothing is simulated again
    return again;
  }
  const ModelLowering how = lowering_of(piece, chosen, mode, timed.releases);
  PieceResult done;
  if (record_) {
    RecordOptions record = *record_;
    record.most /= folding.folded.pieces.size();
    const TaskGraph tasks = lower_model(piece.graph(), how);
    done.first_operators = first_operators(tasks, how.cluster);
    done.run = simulate_and_record(how.cluster, tasks, options, record, on_progress);
  } else {
    done = result_or_known(piece.graph(), how, options, on_progress);
  }
  done.alike = alike;
  return done;
}

// What is known of the operators need not be lowered; what is known of the task graph, which other
// operators may have too, not be simulated.
ModelRun::PieceResult ModelRun::result_or_known(const ModelGraph& graph, const ModelLowering& how,
                                                const RunOptions& options,
                                                const OnProgress& on_progress) const {
  const bool in_node = &how.cluster == &node_;
  const std::optional<RunKey> key =
      machine_ ? piece_key(in_node ? *machine_node_ : *machine_, graph, how, options)
               : std::nullopt;
  PieceResult done;
  if (key) {
    if (auto lowering = options.known->find_lowering(*key)) {
      if (auto known = options.known->find(lowering->run)) {
        if (on_progress) on_progress(Progress{});
        done.run.result = *std::move(known);
        done.first_operators = std::move(lowering->first_operators);
        return done;
      }
    }
  }
  const TaskGraph tasks = lower_model(graph, how);
  done.first_operators = first_operators(tasks, how.cluster);
  KnownRun run = simulate_or_know(how.cluster, tasks, options, on_progress);
  if (key && run.key) options.known->put_lowering(*key, {*run.key, done.first_operators});
  done.run.result = std::move(run.result);
  return done;
}

void ModelRun::record(const RecordOptions& what) {
  record_ = what;
  for (auto& [joined, folding] : folding_) folding.unfused.clear();
}

int ModelRun::at_a_time(std::size_t runs, const Folded& folded, Mode mode) const {
  if (runs <= 1 || scenario_.run.cores == 1) return 1;
  return at_a_time(runs, estimated_needs(folded.pieces, scenario_, cluster_, mode).memory);
}

// As many as there are cores, and as run.max_memory has room for if each needs so much.
int ModelRun::at_a_time(std::size_t runs, Bytes needed) const {
  if (runs <= 1 || scenario_.run.cores == 1) return 1;
  // A timeline has been given the memory that one piece leaves.
  if (record_ && record_->detail > Detail::intervals) return 1;
  const std::int64_t fit =
      scenario_.run.max_memory.count() / std::max<std::int64_t>(needed.count(), 1);
  const auto most = std::min(static_cast<std::int64_t>(runs), std::int64_t{scenario_.run.cores});
  return static_cast<int>(std::clamp<std::int64_t>(fit, 1, most));
}

// They share cores and memory.
RunOptions ModelRun::options_of_each(int at_a_time) const {
  RunOptions options = scenario_.run;
  options.cores /= at_a_time;
  options.max_memory = bytes(options.max_memory.count() / at_a_time);
  return options;
}

// Up to the first piece that does not finish.
void ModelRun::run_pieces(Folding& folding, const std::vector<TimedPiece>& pieces, Mode mode,
                          const OnProgress& on_progress, PieceResults& all) {
  std::vector<PieceResult> done(pieces.size());
  std::atomic<std::size_t> unfinished = pieces.size();  // the first one that is known
  const int at_a_time = this->at_a_time(pieces.size(), folding.folded, mode);
  const RunOptions options = options_of_each(at_a_time);
  ProgressOfAll progress(pieces.size(), on_progress);
  std::vector<double> work(pieces.size());
  for (std::size_t i = 0; at_a_time > 1 && i < pieces.size(); ++i) {
    const Piece& piece = folding.folded.pieces[pieces[i].piece];
    work[i] = estimated_work(piece.graph(), scenario_, cluster_of(piece));
  }
  concurrently(work, at_a_time, [&](std::size_t i) {
    if (i > unfinished) return;
    done[i] = result_of(folding, pieces[i], mode, options, progress.of(i));
    if (done[i].run.result.ending != Ending::finished) keep_least(unfinished, i);
  });
  for (std::size_t i = 0; i < pieces.size() && i <= unfinished; ++i) {
    if (done[i].alike) folding.unfused.try_emplace(pieces[i], done[i]);
    done[i].run.result.mode = mode;
    all.results.push_back(std::move(done[i].run.result));
    all.first_operators.push_back(std::move(done[i].first_operators));
    all.recordings.push_back(std::move(done[i].run.recording));
  }
}

std::optional<RunResult> ModelRun::too_large(const Folded& folded, Mode mode) const {
  return too_large_together(estimated_needs(folded.pieces, scenario_, cluster_, mode).memory, mode,
                            "some exchanges outlast the layers that they overlap");
}

std::optional<RunResult> ModelRun::too_large_together(Bytes needed, Mode mode,
                                                      std::string_view why) const {
  if (needed <= scenario_.run.max_memory) return std::nullopt;
  constexpr std::int64_t kMebi = 1024 * 1024;
  RunResult result;
  result.mode = mode;
  result.ending = Ending::memory_limit;
  result.stopped_because = fmt::format(
      "run.max_memory: {1}, so these have to be simulated together, which is estimated to need "
      "{0} MiB; if the machine has them, --set 'run.max_memory={0} MiB'",
      (needed.count() + kMebi - 1) / kMebi, why);
  return result;
}

// Joins `more` and further blocks around them; without these, if they need too much memory.
Joined ModelRun::joined_further(const Joined& joined, const Joined& more, std::size_t further,
                                Mode mode) {
  Joined wide = join_around(joined, more, further);
  if (wide == more) return more;
  if (!too_large(folding(wide).folded, mode)) return wide;
  folding_.erase(wide);
  return more;
}

// Runs pieces separately; if their runs meet, joins these and runs again, until none meet. Each
// time, more blocks are joined around them: what outlasts many blocks would else meet them one by
// one, and what is joined be simulated for each.
RunResult ModelRun::run(Mode mode, const OnProgress& on_progress) {
  partition_ = choose_partition(scenario_, cluster_, mode);
  Joined joined(graph_.blocks.size());
  for (std::size_t further = 0;; further = std::min(4 * further + 3, joined.size())) {
    Folding& folding = this->folding(joined);
    find_candidates(folding);
    Timetable timetable(folding.folded);
    PieceResults pieces;
    if (!complete(timetable, folding, mode, on_progress, pieces)) {
      return std::move(pieces.results.back());
    }
    Folded folded = timetable.timed();
    if (folded.pieces.size() == 1 && folded.runs.size() == 1 && !folded.pieces[0].in_a_node) {
      if (record_) recording_ = alone(std::move(pieces.recordings.front()));
      return std::move(pieces.results.front());
    }
    const Joined more = join_where_runs_meet(folded, pieces.results, cluster_, joined);
    if (more == joined) {
      if (!slow_down(timetable, folding, mode, on_progress, pieces)) {
        return std::move(pieces.results.back());
      }
      folded = timetable.timed();
      // Joining these as well would end with the whole model in one piece: as without slowdowns.
      if (join_where_runs_meet(folded, pieces.results, cluster_, joined) != joined) {
        timetable.again(std::vector<std::vector<Beside>>(folded.runs.size()), false);
        timetable.next(pieces.results);
        folded = timetable.timed();
      }
    }
    if (more == joined) {
      RunResult result = put_together(folded, pieces.results, pieces.first_operators, cluster_);
      end_at_limit(result, scenario_.run.max_time);
      if (record_ && result.ending == Ending::finished) {
        recording_ = played(folded, pieces.results, std::move(pieces.recordings), cluster_);
      }
      result.mode = mode;
      return result;
    }
    folding.unfused.clear();  // recordings are large and useless if runs meet
    joined = joined_further(joined, more, further, mode);
    if (auto refused = too_large(this->folding(joined).folded, mode)) return *std::move(refused);
  }
}

bool ModelRun::complete(Timetable& timetable, Folding& folding, Mode mode,
                        const OnProgress& on_progress, PieceResults& all) {
  while (true) {
    const std::vector<TimedPiece> next = timetable.next(all.results);
    if (next.empty()) return true;
    run_pieces(folding, next, mode, on_progress, all);
    if (all.results.back().ending != Ending::finished) return false;
  }
}

std::vector<Candidate> ModelRun::candidates() {
  find_candidates(folding({}));
  std::vector<Candidate> ranked = by_kind(candidates_);
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
    if (a.obstacle.empty() != b.obstacle.empty()) return a.obstacle.empty();
    return a.gain() * a.times > b.gain() * b.times;
  });
  return ranked;
}

}  // namespace weft
