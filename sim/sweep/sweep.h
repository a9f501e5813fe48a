// A sweep on this machine: its points in parallel; nothing that is finished is lost.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "sim/sweep/memory_gate.h"
#include "sim/sweep/observer.h"
#include "sim/sweep/store.h"
#include "sim/sweep/sweep_options.h"
#include "sim/sweep/sweep_rows.h"

namespace weft {

// Its steps, in the order in which they are called.
class Sweep {
 public:
  // Makes the folder: it is there, and this sweep's own, before the points are planned. `plan` has
  // to outlive it.
  Sweep(const SweepPlan& plan, SweepOptions options, SweepMessages messages);

  // Takes from the folder what it has of these rows, all of the shard. Called again with more rows
  // besides these, it goes on with those (a search that asks for points as it goes).
  void resume(std::vector<SweepRow> rows);

  // Runs the rest, or what is finished by the time of interrupted().
  void run(const OnCounts& on_counts);

  // What others have run of these rows, by their points.
  void take(const std::vector<Row>& rows);

  // As they were given, and what is known of them by now.
  [[nodiscard]] const std::vector<SweepRow>& rows() const { return rows_; }

  // Writes the tables of the rows that are finished, and returns these in order.
  std::vector<Row> finish();

 private:
  enum class Where { here, apart };

  [[nodiscard]] std::vector<Row> finished() const;
  void run_apart(const std::vector<SweepTask>& tasks);
  void run_together(const std::vector<SweepTask>& tasks);
  void run_task(const SweepTask& task, PointLoader& loader, Where where);
  void finish_task(const SweepTask& task, const PointOutcome& outcome);
  void count(const std::function<void(SweepCounts&)>& change);

  const SweepPlan& plan_;
  SweepOptions options_;
  SweepMessages messages_;
  SweepInfo info_;
  std::vector<SweepRow> rows_;
  Store store_;
  MemoryGate gate_;
  std::mutex counting_;
  SweepCounts counts_;
  OnCounts on_counts_;
};

}  // namespace weft
