#include "sim/models/run_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/concurrently.h"
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

FirstOperators first_operators(const TaskGraph& tasks, const Cluster& cluster) {
  FirstOperators first(cluster.gpus(), OperatorId::none());
  for (const Kernel& kernel : tasks.kernels) {
    OperatorId& known = first[kernel.gpu.value];
    if (known.is_none()) known = kernel.op;
  }
  return first;
}

// What pieces have done together, told by whichever has done something.
class ProgressOfAll {
 public:
  ProgressOfAll(std::size_t pieces, const OnProgress& tell) : of_piece_(pieces), tell_(tell) {}

  OnProgress of(std::size_t piece) {
    if (!tell_) return {};
    return [this, piece](const Progress& progress) {
      const std::lock_guard lock(telling_);
      of_piece_[piece] = progress;
      Progress all;
      for (const Progress& one : of_piece_) {
        all.events += one.events;
        all.now = later(all.now, one.now);
        all.wgs_done += one.wgs_done;
        all.wgs += one.wgs;
        all.kernels += one.kernels;
        all.messages += one.messages;
      }
      tell_(all);
    };
  }

 private:
  std::mutex telling_;
  std::vector<Progress> of_piece_;
  const OnProgress& tell_;
};

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

TaskGraph ModelRun::lowered(const Piece& piece, const Chosen& chosen, Mode mode) const {
  return lower_model(piece.graph(), {.options = overlap_options(scenario_),
                                     .cluster = cluster_of(piece),
                                     .mode = mode,
                                     .fusions = chosen.fusions,
                                     .ways = chosen.ways,
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
    const Piece& piece = folded.pieces[i];
    text += to_text(lowered(piece, chosen(piece.graph(), apart.pairs[i], mode), mode));
  }
  return text;
}

ModelRun::PieceResult ModelRun::result_of(const Folding& folding, std::uint32_t id, Mode mode,
                                          const RunOptions& options,
                                          const OnProgress& on_progress) const {
  const Piece& piece = folding.folded.pieces[id];
  const Chosen chosen = this->chosen(piece.graph(), folding.pairs[id], mode);
  const bool alike = chosen.fusions.empty() && !is_single();
  const auto known = folding.unfused.find(id);
  if (alike && known != folding.unfused.end()) {
    PieceResult again = known->second;
    again.run.result.events = 0;  // nothing is simulated again
    return again;
  }
  const TaskGraph tasks = lowered(piece, chosen, mode);
  PieceResult done;
  done.alike = alike;
  done.first_operators = first_operators(tasks, cluster_of(piece));
  if (record_) {
    RecordOptions record = *record_;
    record.most /= folding.folded.pieces.size();
    done.run = simulate_and_record(cluster_of(piece), tasks, options, record, on_progress);
  } else {
    done.run.result = simulate(cluster_of(piece), tasks, options, on_progress);
  }
  return done;
}

void ModelRun::record(const RecordOptions& what) {
  record_ = what;
  for (auto& [joined, folding] : folding_) folding.unfused.clear();
}

// As many as there are cores, and as run.max_memory has room for if each is the largest piece.
int ModelRun::at_a_time(std::size_t runs, const Folded& folded, Mode mode) const {
  if (runs <= 1 || scenario_.run.cores == 1) return 1;
  // A timeline has been given the memory that one piece leaves.
  if (record_ && record_->detail > Detail::intervals) return 1;
  const Bytes needed = estimated_needs(folded.pieces, scenario_, cluster_, mode).memory;
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
ModelRun::PieceResults ModelRun::run_pieces(Folding& folding, Mode mode,
                                            const OnProgress& on_progress) {
  const std::vector<Piece>& pieces = folding.folded.pieces;
  std::vector<PieceResult> done(pieces.size());
  std::atomic<std::size_t> unfinished = pieces.size();  // the first one that is known
  const int at_a_time = this->at_a_time(pieces.size(), folding.folded, mode);
  const RunOptions options = options_of_each(at_a_time);
  ProgressOfAll progress(pieces.size(), on_progress);
  concurrently(pieces.size(), at_a_time, [&](std::size_t i) {
    if (i > unfinished) return;
    done[i] = result_of(folding, static_cast<std::uint32_t>(i), mode, options, progress.of(i));
    if (done[i].run.result.ending == Ending::finished) return;
    for (std::size_t first = unfinished; i < first;) {
      if (unfinished.compare_exchange_weak(first, i)) break;
    }
  });
  PieceResults all;
  for (std::uint32_t i = 0; i < pieces.size() && i <= unfinished; ++i) {
    if (done[i].alike) folding.unfused.try_emplace(i, done[i]);
    done[i].run.result.mode = mode;
    all.results.push_back(std::move(done[i].run.result));
    all.first_operators.push_back(std::move(done[i].first_operators));
    all.recordings.push_back(std::move(done[i].run.recording));
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
