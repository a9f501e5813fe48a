#include "sim/app/sweep_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/interrupt.h"
#include "sim/app/jobs.h"
#include "sim/app/memory_gate.h"
#include "sim/app/planned.h"
#include "sim/app/run_point.h"
#include "sim/app/sweep_launcher_slurm.h"
#include "sim/app/sweep_outcome.h"
#include "sim/app/sweep_progress.h"
#include "sim/app/sweep_rows.h"
#include "sim/app/wrong_file.h"
#include "sim/core/plural.h"
#include "sim/files/staged.h"
#include "sim/run/exit_code.h"
#include "sim/run/memory.h"
#include "sim/sweep/store.h"
#include "sim/sweep/tables.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Three quarters of the machine's memory: others want some too.
Bytes memory_for_all() {
  const std::int64_t all = machine_memory_bytes();
  return bytes(all > 0 ? all / 4 * 3 : INT64_MAX / 2);
}

std::vector<SweepRow> planned_rows(const SweepPlan& plan, const SweepCommand& command, int jobs) {
  CountProgress progress("points planned", CountProgress::Total::exact,
                         command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  return sweep_rows(plan, command.shard,
                    {.jobs = jobs,
                     .lays_out = command.dry_run,
                     .on_point = [&progress](std::size_t done, std::size_t all) {
                       progress.update(done, all);
                       if (interrupted()) throw Interrupted{};
                     }});
}

class Sweep {
 public:
  // Makes the folder: it is there, and this sweep's own, before the points are planned.
  Sweep(const SweepPlan& plan, const SweepCommand& command, int jobs)
      : plan_(plan),
        command_(command),
        jobs_(jobs),
        info_(info_of(plan, command)),
        folder_(command.output.value_or(default_folder(plan, command.shard))),
        store_(folder_, info_),
        gate_(memory_for_all()) {}

  int run() {
    try {
      rows_ = planned_rows(plan_, command_, jobs_);
    } catch (const Interrupted&) {
      spdlog::warn("stopped while the points were being planned; the same command continues");
      return exit_code::interrupted;
    }
    take_what_is_there();
    store_.keep(finished());
    const std::vector<SweepTask> tasks = tasks_of(rows_);
    run_tasks(tasks);
    const std::vector<Row> done = finished();
    if (done.size() == rows_.size()) store_.finish(done);
    Staged tables(Staged::Durable::yes);
    add_tables(tables, folder_, done, info_.axes);
    tables.commit();
    return tell(done);
  }

 private:
  void take_what_is_there() {
    if (!store_.damaged().empty()) {
      spdlog::warn("{}: damaged or incomplete; what is missing is run again",
                   places_text(store_.damaged()));
    }
    for (SweepRow& row : rows_) {
      const PointOutcome* outcome = store_.find(row.row.point);
      if (row.finished || outcome == nullptr || (command_.retry && !outcome->ok)) continue;
      row.row.outcome = *outcome;
      row.finished = true;
      ++before_;
    }
    if (before_ > 0) spdlog::info("{} of {} points were already finished", before_, rows_.size());
  }

  [[nodiscard]] std::vector<Row> finished() const {
    std::vector<Row> rows;
    for (const SweepRow& row : rows_) {
      if (row.finished) rows.push_back(row.row);
    }
    return rows;
  }

  // Points during which weft has ended twice go first, each in a process of its own: whatever ends
  // it, the others will be run.
  void run_tasks(const std::vector<SweepTask>& tasks) {
    constexpr int kTooOften = 2;
    std::vector<SweepTask> apart;
    std::vector<SweepTask> together;
    for (const SweepTask& task : tasks) {
      (store_.endings_during(task.point) < kTooOften ? together : apart).push_back(task);
    }
    const std::vector<Row> done = finished();
    const auto failed =
        std::count_if(done.begin(), done.end(), [](const Row& row) { return !row.outcome.ok; });
    SweepProgress progress({.all = rows_.size(),
                            .before = done.size(),
                            .done = done.size(),
                            .failed = static_cast<std::size_t>(failed)},
                           command_.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
    progress_ = &progress;
    run_apart(apart);
    run_together(together);
    progress_ = nullptr;
  }

  void run_apart(const std::vector<SweepTask>& tasks) {
    PointLoader loader(plan_);
    for (const SweepTask& task : tasks) {
      if (interrupted()) return;
      spdlog::warn("weft crashed twice on {}; it now runs in a process of its own",
                   name_of(rows_[task.rows.front()].row, info_.axes));
      run_task(task, loader, Where::apart);
    }
  }

  void run_together(const std::vector<SweepTask>& tasks) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&](int) {
      PointLoader loader(plan_);
      for (std::size_t i = next++; i < tasks.size() && !interrupted(); i = next++) {
        try {
          run_task(tasks[i], loader, Where::here);
        } catch (...) {
          next = tasks.size();  // nothing new; the others end what they are at
          throw;
        }
      }
    };
    tbb::task_arena(jobs_).execute(
        [&] { tbb::parallel_for(0, jobs_, work, tbb::simple_partitioner()); });
  }

  enum class Where { here, apart };

  void run_task(const SweepTask& task, PointLoader& loader, Where where) {
    store_.start(task.point);
    progress_->begin();
    const SweepRow& first = rows_[task.rows.front()];
    const Loaded loaded = loader.load(*first.point);
    try {
      finish(task, where == Where::here ? run_point(loaded, first.row.command, gate_)
                                        : run_point_apart(loaded, first.row.command));
    } catch (const Interrupted&) {
      progress_->abandon();
    }
  }

  void finish(const SweepTask& task, const PointOutcome& outcome) {
    std::vector<Row> written;
    for (const std::size_t i : task.rows) {
      rows_[i].row.outcome = outcome;
      rows_[i].finished = true;
      written.push_back(rows_[i].row);
    }
    store_.add(written);
    progress_->end(outcome.ok ? SweepProgress::Ending::ok : SweepProgress::Ending::failed,
                   task.rows.size());
  }

  int tell(const std::vector<Row>& done) const {
    const int code = tell_outcome(done, info_, folder_);
    if (done.size() == rows_.size()) return code;
    spdlog::warn("stopped with {} {} left; the same command continues", rows_.size() - done.size(),
                 plural(rows_.size() - done.size(), "point", "points"));
    return exit_code::interrupted;
  }

  const SweepPlan& plan_;
  const SweepCommand& command_;
  int jobs_;
  SweepInfo info_;
  fs::path folder_;
  std::vector<SweepRow> rows_;
  Store store_;
  MemoryGate gate_;
  std::size_t before_ = 0;
  SweepProgress* progress_ = nullptr;
};

Planned planned(const SweepPlan& plan, const SweepCommand& command) {
  Planned planned;
  planned.reads = {command.file, plan.scenario};
  const fs::path folder = command.output.value_or(default_folder(plan, command.shard));
  std::vector<std::string> names = table_names();
  names.insert(names.end(), {"sweep.json", "results.jsonl", "earlier.jsonl", "started.txt"});
  planned.write("--output", folder, names);
  return planned;
}

}  // namespace

int sweep_command(const SweepCommand& command) {
  if (command.status) return slurm_status(command);
  const LoadedPlan loaded =
      load_plan(command.file, {.sets = command.sets, .config_dirs = config_dirs});
  print_problems(or_its_command(loaded.problems, command.file, FileKind::sweep));
  if (!loaded.plan) return exit_code::user;
  const SweepPlan& plan = *loaded.plan;
  if (command.shard.count > plan.points.size()) {
    spdlog::error("{} shards, but only {} points", command.shard.count, plan.points.size());
    return exit_code::user;
  }
  if (command.launcher == Launcher::slurm && !command.dry_run) {
    return launch_on_slurm(plan, command);
  }
  const int jobs = jobs_or_cores(command.jobs);
  if (command.dry_run) return print_points(plan, planned_rows(plan, command, jobs));
  if (refused(planned(plan, command))) return exit_code::user;
  catch_interrupts();
  return Sweep(plan, command, jobs).run();
}

}  // namespace weft
