#include "sim/sweep/sweep.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "sim/engine/known_runs.h"
#include "sim/files/staged.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/run_point.h"
#include "sim/sweep/tables.h"

namespace weft {

Sweep::Sweep(const SweepPlan& plan, SweepOptions options, SweepMessages messages)
    : plan_(plan),
      options_(std::move(options)),
      messages_(std::move(messages)),
      info_(info_of(plan, options_)),
      store_(options_.folder, info_),
      gate_(memory_for_runs(), messages_.info) {}

void Sweep::resume(std::vector<SweepRow> rows) {
  const bool is_first = rows_.empty();
  rows_ = std::move(rows);
  if (is_first && !store_.damaged().empty()) {
    messages_.warning(fmt::format("{}: damaged or incomplete; what is missing is run again",
                                  places_text(store_.damaged())));
  }
  std::size_t before = 0;
  for (SweepRow& row : rows_) {
    const PointOutcome* outcome = store_.find(row.row.point);
    if (row.finished || outcome == nullptr || (options_.retry && !outcome->ok)) continue;
    row.row.outcome = *outcome;
    row.finished = true;
    ++before;
  }
  if (is_first && before > 0) {
    messages_.info(fmt::format("{} of {} points were already finished", before, rows_.size()));
  }
  store_.keep(finished());
}

std::vector<Row> Sweep::finished() const {
  std::vector<Row> rows;
  for (const SweepRow& row : rows_) {
    if (row.finished) rows.push_back(row.row);
  }
  return rows;
}

// Points during which weft has ended twice go first, each in a process of its own: whatever ends
// it, the others will be run.
void Sweep::run(const OnCounts& on_counts) {
  constexpr int kTooOften = 2;
  std::vector<SweepTask> apart;
  std::vector<SweepTask> together;
  for (const SweepTask& task : tasks_of(rows_)) {
    (store_.endings_during(task.point) < kTooOften ? together : apart).push_back(task);
  }
  on_counts_ = on_counts;
  const std::vector<Row> done = finished();
  const auto failed =
      std::count_if(done.begin(), done.end(), [](const Row& row) { return !row.outcome.ok; });
  count([&](SweepCounts& counts) {
    counts = {.all = rows_.size(),
              .before = done.size(),
              .done = done.size(),
              .failed = static_cast<std::size_t>(failed)};
  });
  run_apart(apart);
  run_together(together);
}

std::vector<Row> Sweep::finish() {
  std::vector<Row> done = finished();
  if (done.size() == rows_.size()) store_.finish(done);
  Staged tables(Staged::Durable::yes);
  add_tables(tables, options_.folder, done, info_.axes);
  tables.commit();
  return done;
}

void Sweep::run_apart(const std::vector<SweepTask>& tasks) {
  PointLoader loader(plan_);
  for (const SweepTask& task : tasks) {
    if (interrupted()) return;
    messages_.warning(fmt::format("weft crashed twice on {}; it now runs in a process of its own",
                                  name_of(rows_[task.rows.front()].row, info_.axes)));
    run_task(task, loader, Where::apart);
  }
}

void Sweep::run_together(const std::vector<SweepTask>& tasks) {
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
  tbb::task_arena(options_.jobs).execute([&] {
    tbb::parallel_for(0, options_.jobs, work, tbb::simple_partitioner());
  });
}

void Sweep::run_task(const SweepTask& task, PointLoader& loader, Where where) {
  store_.start(task.point);
  count([](SweepCounts& counts) { ++counts.running; });
  const SweepRow& first = rows_[task.rows.front()];
  Loaded loaded = loader.load(*first.point);
  std::unique_ptr<KnownRuns> of_child;
  if (where == Where::apart && options_.known != nullptr) of_child = options_.known->for_a_child();
  if (loaded.scenario) loaded.scenario->run.known = of_child ? of_child.get() : options_.known;
  try {
    finish_task(task, where == Where::here ? run_point(loaded, first.row.command, gate_)
                                           : run_point_apart(loaded, first.row.command));
  } catch (const Interrupted&) {
    count([](SweepCounts& counts) { --counts.running; });
  }
}

void Sweep::finish_task(const SweepTask& task, const PointOutcome& outcome) {
  std::vector<Row> written;
  for (const std::size_t i : task.rows) {
    rows_[i].row.outcome = outcome;
    rows_[i].finished = true;
    written.push_back(rows_[i].row);
  }
  store_.add(written);
  has_ended_and_is_kept();
  count([&](SweepCounts& counts) {
    --counts.running;
    counts.done += task.rows.size();
    if (!outcome.ok) counts.failed += task.rows.size();
  });
}

void Sweep::take(const std::vector<Row>& rows) {
  std::map<std::string, const PointOutcome*> outcomes;
  for (const Row& row : rows) outcomes[row.point] = &row.outcome;
  std::vector<Row> written;
  for (SweepRow& row : rows_) {
    const auto found = outcomes.find(row.row.point);
    if (row.finished || found == outcomes.end()) continue;
    row.row.outcome = *found->second;
    row.finished = true;
    written.push_back(row.row);
  }
  store_.add(written);
}

// What is told last is the last: one thread at a time.
void Sweep::count(const std::function<void(SweepCounts&)>& change) {
  const std::lock_guard lock(counting_);
  change(counts_);
  on_counts_(counts_);
}

}  // namespace weft
