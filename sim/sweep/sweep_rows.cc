#include "sim/sweep/sweep_rows.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <map>

#include "sim/run/exit_code.h"
#include "sim/run/replay_text.h"
#include "sim/run/scenario_run.h"
#include "sim/run/version.h"
#include "sim/sweep/interrupt.h"

namespace weft {
namespace {

constexpr std::size_t kLoadedTogether = 64;  // points for which files are read once

// Of a point whose scenario has no hash because it does not load.
std::string hash_of(const std::vector<std::string>& sets) {
  std::string text;
  for (const std::string& set : sets) text += set + '\n';
  return fnv1a_64_hex(text);
}

// What only shows when the work is laid out: a trace that cannot be read, too much memory.
std::string problems_laid_out(const SweepPlan& plan, const Loaded& loaded) {
  const ScenarioRun run(loaded);
  if (!run.ready()) return run.problems().to_text();
  const Diagnostics problems = run.check(plan.scenario.generic_string());
  return problems.has_errors() ? problems.to_text() : "";  // with warnings it is run
}

void load(const SweepPlan& plan, PointLoader& loader, const Planning& how, SweepRow& row) {
  const std::vector<std::string> sets = sets_of(plan, *row.point);
  const Loaded loaded = loader.load(*row.point);
  row.row.version = kVersion;
  row.row.cells = cells_of(plan, *row.point);
  row.row.command = replay_text(plan.scenario, sets);
  row.row.point = loaded.scenario ? loaded.scenario->hash : hash_of(sets);
  if (loaded.scenario) {
    if (how.lays_out) row.problems = problems_laid_out(plan, loaded);
    return;
  }
  row.finished = true;
  row.problems = loaded.problems.to_text();
  row.row.outcome = {
      .ok = false, .error = one_line(loaded.problems), .exit_code = exit_code::user, .summary = ""};
}

}  // namespace

std::vector<SweepRow> sweep_rows(const SweepPlan& plan, Shard shard, const Planning& how) {
  std::vector<std::size_t> points;
  points.reserve(plan.points.size() / shard.count + 1);
  for (std::size_t i = shard.index - 1; i < plan.points.size(); i += shard.count) {
    points.push_back(i);
  }
  return rows_of_points(plan, points, how);
}

std::vector<SweepRow> rows_of_points(const SweepPlan& plan, const std::vector<std::size_t>& points,
                                     const Planning& how) {
  std::vector<SweepRow> rows;
  rows.reserve(points.size());
  for (const std::size_t i : points) {
    SweepRow& row = rows.emplace_back();
    row.row.row = i;
    row.point = &plan.points[i];
  }
  std::atomic<std::size_t> done = 0;
  using Rows = tbb::blocked_range<std::size_t>;
  tbb::task_arena(how.jobs).execute([&] {
    tbb::parallel_for(Rows(0, rows.size(), kLoadedTogether), [&](const Rows& some) {
      PointLoader loader(plan);
      for (std::size_t i = some.begin(); i < some.end(); ++i) {
        load(plan, loader, how, rows[i]);
        if (how.on_point) how.on_point(++done, rows.size());
        if (interrupted()) throw Interrupted{};
      }
    });
  });
  return rows;
}

SweepInfo info_of(const SweepPlan& plan, const SweepOptions& options) {
  const Shard shard = options.shard;
  std::string again = fmt::format("{} {}", options.command, shell_quoted(plan.file.string()));
  for (const std::string& set : options.sets) again += fmt::format(" --set {}", shell_quoted(set));
  SweepInfo info{.name = plan.name,
                 .scenario = plan.scenario.generic_string(),
                 .version = kVersion,
                 .command = std::move(again),
                 .axes = columns_of(plan),
                 .points = plan.points.size(),
                 .shard = ""};
  if (shard.count > 1) info.shard = fmt::format("{}/{}", shard.index, shard.count);
  return info;
}

std::vector<SweepTask> tasks_of(const std::vector<SweepRow>& rows) {
  std::vector<SweepTask> tasks;
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].finished) continue;
    const auto [found, fresh] = numbers.try_emplace(rows[i].row.point, tasks.size());
    if (fresh) tasks.push_back({.point = rows[i].row.point, .rows = {}});
    tasks[found->second].rows.push_back(i);
  }
  return tasks;
}

std::string name_of(const Row& row, const std::vector<AxisColumn>& axes) {
  std::string name;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    name += fmt::format("{}{}={}", i == 0 ? "" : " ", axes[i].column, text_of(row.cells[i]));
  }
  return name;
}

std::string difference_of(const Row& row, const Row& from, const std::vector<AxisColumn>& axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string value = text_of(row.cells[i]);
    if (value == text_of(from.cells[i])) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", axes[i].column, value);
  }
  return text;
}

std::vector<FailedRows> failures_of(const std::vector<Row>& rows) {
  std::vector<FailedRows> failures;
  std::map<std::string_view, std::size_t> known;  // by error
  for (const Row& row : rows) {
    if (row.outcome.ok) continue;
    const auto [at, added] = known.try_emplace(row.outcome.error, failures.size());
    if (added) failures.push_back({.first = &row});
    failures[at->second].rows += 1;
  }
  return failures;
}

std::filesystem::path default_folder(const SweepPlan& plan, Shard shard) {
  std::filesystem::path whole = std::filesystem::path("results") / plan.name;
  if (shard.count == 1) return whole;
  return whole / fmt::format("shard_{}_of_{}", shard.index, shard.count);
}

}  // namespace weft
