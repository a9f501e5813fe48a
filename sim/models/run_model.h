// Runs a model: its pieces are simulated, several at a time where there are cores and memory, and
// its results put together from their runs. A single operator and its collective are a model of one
// piece, whose pair each mode overlaps in its way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/engine/partition.h"
#include "sim/engine/simulate.h"
#include "sim/models/beside.h"
#include "sim/models/candidate.h"
#include "sim/models/fold.h"
#include "sim/models/fusions.h"
#include "sim/models/lower_model.h"
#include "sim/models/pair_rules.h"
#include "sim/models/schedule.h"

namespace weft {

// By GPU, the operator of its first kernel; none() if it has none.
using FirstOperators = std::vector<OperatorId>;

class ModelRun {
 public:
  // All arguments must outlive it. What repeats is simulated once if `scenario` says so.
  ModelRun(const Scenario& scenario, const Cluster& cluster, const ModelGraph& graph);

  // From now on, runs are recorded.
  void record(const RecordOptions& what);

  // `on_progress` gets what all pieces have done so far, from one thread at a time.
  RunResult run(Mode mode, const OnProgress& on_progress);

  // The recording of the last run, if it finished.
  RunRecording take_recording() { return std::move(recording_); }

  // How mode c3 partitioned the CUs in the last run.
  [[nodiscard]] const Partition& partition() const { return partition_; }

  // Sorted by total gain, the largest first; those with an obstacle come last.
  std::vector<Candidate> candidates();
  // Whether there is a search for them (workload.fuse).
  [[nodiscard]] bool tries_pairs() const;

  // After candidates(), from any number of threads, in mode mixed:
  // What the pairs of the rule's name take by themselves as it says, as often as a GPU has them;
  // nothing where its mode suits none of them, none has all its knobs, or a limit of the options is
  // met.
  [[nodiscard]] std::optional<Duration> time_by(const PairRule& rule,
                                                const RunOptions& options) const;
  // What one of them takes by itself where no rule speaks of it.
  [[nodiscard]] Duration time_without_rules(const Candidate& candidate) const;

  // A collective that is in no pair which could be overlapped, by itself; of all that are the same
  // and lie alike one.
  struct LoneCollective {
    ModelGraph alone;
    bool in_a_node = false;
    std::int64_t times = 0;  // how often the model has it, on the GPU that does it most often
    [[nodiscard]] const ModelOp& op() const { return alone.ops[OpId(0)]; }
  };
  // After candidates(); without those that can have no rule.
  [[nodiscard]] std::vector<LoneCollective> lone_collectives() const;
  // From any number of threads. Nothing: a limit of the options is met.
  [[nodiscard]] std::optional<Duration> time_of(const LoneCollective& one,
                                                const CollectiveOptions& run_as,
                                                const RunOptions& options) const;

  // What --stop-after=tasks prints: piece by piece.
  std::string tasks_text(Mode mode);

  // The model as folded before any of its blocks are joined.
  [[nodiscard]] const Folded& folded() const { return folding_.at({}).folded; }

 private:
  struct PieceResult {
    Recorded run;
    FirstOperators first_operators;
    bool alike = false;  // in every mode
  };
  struct Pair {  // of a piece
    Fusion fusion;
    std::uint32_t candidate = 0;
  };
  // The model cut into pieces in one way.
  struct Folding {
    Folded folded;
    std::vector<std::vector<Pair>> pairs;       // by piece; empty until needed
    std::map<TimedPiece, PieceResult> unfused;  // the same in every mode
  };
  using Slowdowns = std::map<PairBeside, MutualSlowdown>;
  // The results of one mode, by timed piece.
  struct PieceResults {
    std::vector<RunResult> results;
    std::vector<FirstOperators> first_operators;
    std::vector<Recording> recordings;
  };

  Folding& folding(const Joined& joined);
  void find_candidates(Folding& folding);  // also measures new ones
  // A candidate's operators alone, with the mean times of all its pairs found so far.
  struct Tried {
    ModelGraph alone;
    Fusion fusion;
    std::int64_t found = 0;
    bool in_a_node = false;
    bool measured = false;
  };
  std::uint32_t candidate_of(const Piece& piece, const Fusion& fusion);
  // Its pair by itself, run in this way.
  [[nodiscard]] RunResult result_alone(const Tried& tried, const PairWay& way,
                                       const RunOptions& options) const;
  // What its collective adds to it.
  [[nodiscard]] Duration exposed_alone(const Tried& tried, const RunOptions& options) const;
  [[nodiscard]] bool has_knobs(const PairRule& rule) const;
  void measure(Candidate& candidate, const Tried& tried, const RunOptions& options) const;
  [[nodiscard]] bool asks_for(Mode mode) const;
  void count_times(const Folding& folding);
  [[nodiscard]] bool is_single() const { return !is_model(scenario_.workload.kind); }
  // What a mode overlaps; in mode mixed each in its way.
  struct Chosen {
    std::vector<Fusion> fusions;
    std::vector<PairWay> ways;
  };
  [[nodiscard]] bool overlaps(const Candidate& candidate, Mode mode) const;
  [[nodiscard]] Mode fastest_mode(const Candidate& candidate) const;  // that mixed may take
  [[nodiscard]] PairWay way_of(const ModelGraph& graph, const Pair& pair) const;
  // Without rules for pairs.
  [[nodiscard]] OverlapOptions options_of_pair(const ModelGraph& graph, const Fusion& fusion) const;
  [[nodiscard]] Chosen chosen(const ModelGraph& graph, const std::vector<Pair>& pairs,
                              Mode mode) const;
  // Adds to `all`.
  void run_pieces(Folding& folding, const std::vector<TimedPiece>& pieces, Mode mode,
                  const OnProgress& on_progress, PieceResults& all);
  [[nodiscard]] PieceResult result_of(const Folding& folding, const TimedPiece& piece, Mode mode,
                                      const RunOptions& options,
                                      const OnProgress& on_progress) const;
  [[nodiscard]] int at_a_time(std::size_t runs, const Folded& folded, Mode mode) const;
  [[nodiscard]] int at_a_time(std::size_t runs, Bytes needed) const;
  [[nodiscard]] RunOptions options_of_each(int at_a_time) const;
  [[nodiscard]] ModelLowering lowering_of(const Piece& piece, const Chosen& chosen, Mode mode,
                                          const std::vector<Release>& releases) const;
  // Simulated, unless it is known, with its first operators.
  [[nodiscard]] PieceResult result_or_known(const ModelGraph& graph, const ModelLowering& how,
                                            const RunOptions& options,
                                            const OnProgress& on_progress) const;
  // Simulates what the timetable still lacks. False: the last of `all` has not finished.
  bool complete(Timetable& timetable, Folding& folding, Mode mode, const OnProgress& on_progress,
                PieceResults& all);
  // Times runs with what lies beside them. False: as above.
  bool slow_down(Timetable& timetable, Folding& folding, Mode mode, const OnProgress& on_progress,
                 PieceResults& all);
  // Simulates the pairs that are new among them. Returns the first that has not finished.
  std::optional<RunResult> add_slowdowns(const std::vector<Neighbours>& neighbours,
                                         const Timetable& timetable, const Folding& folding,
                                         Mode mode, const OnProgress& on_progress,
                                         const PieceResults& alone, Slowdowns& slowdowns);
  [[nodiscard]] RunResult result_of_pair(const PairGraph& pair, const Chosen& chosen, Mode mode,
                                         RunOptions options, const OnProgress& on_progress) const;
  [[nodiscard]] Chosen chosen_in(const PairGraph& pair, const Timetable& timetable,
                                 const Folding& folding, Mode mode) const;
  Joined joined_further(const Joined& joined, const Joined& more, std::size_t further, Mode mode);
  // What is said instead of running what needs too much memory.
  [[nodiscard]] std::optional<RunResult> too_large(const Folded& folded, Mode mode) const;
  [[nodiscard]] std::optional<RunResult> too_large_together(Bytes needed, Mode mode,
                                                            std::string_view why) const;
  [[nodiscard]] const Cluster& cluster_of(const Piece& piece) const {
    return piece.in_a_node ? node_ : cluster_;
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  const ModelGraph& graph_;
  Cluster node_;                             // a single node of the cluster
  std::optional<DigestValue> machine_;       // for keys of what is known; none: it is not asked
  std::optional<DigestValue> machine_node_;  // the node's
  std::map<Joined, Folding> folding_;
  std::vector<Tried> tried_;  // by candidate
  std::vector<Candidate> candidates_;
  Partition partition_;
  std::optional<RecordOptions> record_;
  RunRecording recording_;
};

// The results of the whole model, from those of its timed pieces, one entry per piece.
RunResult put_together(const Folded& folded, const std::vector<RunResult>& pieces,
                       const std::vector<FirstOperators>& first_operators, const Cluster& cluster);

// The recording of the whole model: each piece's is replayed where its runs are.
RunRecording played(const Folded& folded, const std::vector<RunResult>& pieces,
                    std::vector<Recording> recordings, const Cluster& cluster);

}  // namespace weft
