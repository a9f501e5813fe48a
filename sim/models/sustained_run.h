// Runs a model at the clock that the power limit allows if it runs for seconds: the clock at which
// a step's mean power equals the limit, found by trial. Each clock tried is a run of its own.
#pragma once

#include <map>
#include <memory>

#include "sim/models/run_model.h"

namespace weft {

// Whether `run.clocks` asks for it, and the GPU's power is known.
bool is_sustained(const Scenario& scenario);

class SustainedRun {
 public:
  // All arguments must outlive it.
  SustainedRun(const Scenario& scenario, const Cluster& cluster, const ModelGraph& graph);

  // As in ModelRun; the last four refer to the last run's clock.
  void record(const RecordOptions& what);
  RunResult run(Mode mode, const OnProgress& on_progress);
  std::string tasks_text(Mode mode) { return at(clock_).model.tasks_text(mode); }
  RunRecording take_recording() { return at(clock_).model.take_recording(); }
  std::vector<Candidate> candidates() { return at(clock_).model.candidates(); }
  [[nodiscard]] bool tries_pairs() { return at(clock_).model.tries_pairs(); }
  [[nodiscard]] const Partition& partition() const { return runs_.at(clock_)->model.partition(); }

  // For GPUs at full clock, before any blocks are joined.
  [[nodiscard]] const Folded& folded() const { return runs_.at(kFull)->model.folded(); }

 private:
  struct AtClock {
    AtClock(const Scenario& scenario, const Cluster& full, const ModelGraph& graph, int clock);
    std::optional<Cluster> slow_whole;  // that `slow` stands for, if it does
    std::optional<Cluster> slow;
    ModelRun model;
  };
  static constexpr int kFull = 200;  // clocks are in steps of half a percent

  AtClock& at(int clock);
  [[nodiscard]] int clock_left_by(const RunResult& result, int clock) const;

  const Scenario& scenario_;
  const Cluster& cluster_;
  const ModelGraph& graph_;
  std::map<int, std::unique_ptr<AtClock>> runs_;
  std::optional<RecordOptions> record_;
  int clock_ = kFull;
};

}  // namespace weft
