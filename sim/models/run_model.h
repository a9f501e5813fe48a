// Runs a model: its pieces are simulated, its results put together from their runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/fold.h"
#include "sim/models/fusions.h"

namespace weft {

// A pair that could be fused, by itself in both ways, as often as the model has it.
struct Candidate {
  std::string name;  // "attn_out + attn_out_reduce"
  WorkloadKind pattern = WorkloadKind::gemm_all_reduce;
  std::string obstacle;    // why it cannot; then without times
  std::int64_t times = 0;  // in the model, on the GPU that does it most often
  Duration bulk;
  Duration chunked;
  Duration fused;
  int wgs_per_cu_bulk = 0;  // resident
  int wgs_per_cu_fused = 0;
  [[nodiscard]] Duration gain() const { return bulk - fused; }
};

class ModelRun {
 public:
  // Both have to outlive it.
  ModelRun(const Scenario& scenario, const Cluster& cluster, Folded folded);

  // Runs from now on are recorded.
  void record(const RecordOptions& what);

  RunResult run(Mode mode, const OnProgress& on_progress);

  // Of the last run, if it finished.
  RunRecording take_recording() { return std::move(recording_); }

  // By what all of them gain together, the most first; those with an obstacle last.
  std::vector<Candidate> candidates();

  // What --stop-after=tasks prints: piece by piece.
  std::string tasks_text(Mode mode);

  [[nodiscard]] const Folded& folded() const { return folded_; }

 private:
  struct Pair {  // of a piece
    Fusion fusion;
    std::uint32_t candidate = 0;
  };

  void find_candidates();  // and tries them, the first time that they are needed
  void measure(Candidate& candidate, const ModelGraph& alone, Fusion fusion,
               const Cluster& cluster) const;
  void count_times();
  [[nodiscard]] std::vector<Fusion> chosen(std::uint32_t piece, Mode mode) const;
  Recorded result_of(std::uint32_t piece, Mode mode, const OnProgress& on_progress);
  [[nodiscard]] TaskGraph lowered(std::uint32_t piece, Mode mode) const;
  [[nodiscard]] const Cluster& cluster_of(const Piece& piece) const {
    return piece.in_a_node ? node_ : cluster_;
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  Cluster node_;  // one of its nodes, alone
  Folded folded_;
  std::vector<std::vector<Pair>> pairs_;  // by piece
  std::vector<Candidate> candidates_;
  std::map<std::uint32_t, Recorded> unfused_;  // by piece: the same in every mode
  std::optional<RecordOptions> record_;
  RunRecording recording_;
};

// When each run begins: when the last of those that it waits for has ended. One entry a run, from
// results of one a piece.
std::vector<SimTime> starts_of(const Folded& folded, const std::vector<RunResult>& pieces);

// The results of all runs, from those of their pieces: each begins when those that it waits for
// have ended. One entry a piece.
RunResult put_together(const Folded& folded, const std::vector<RunResult>& pieces,
                       const Cluster& cluster);

// Their recordings, each played where its runs are.
RunRecording played(const Folded& folded, const std::vector<RunResult>& pieces,
                    std::vector<Recording> recordings, const Cluster& cluster);

}  // namespace weft
