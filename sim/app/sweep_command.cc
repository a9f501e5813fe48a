#include "sim/app/sweep_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <utility>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/app/sweep_on_slurm.h"
#include "sim/app/sweep_outcome.h"
#include "sim/app/sweep_points.h"
#include "sim/app/sweep_progress.h"
#include "sim/core/plural.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/wrong_file.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/sweep.h"
#include "sim/sweep/tables.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::vector<SweepRow> planned_rows(const SweepPlan& plan, const SweepCommand& command, int jobs) {
  CountProgress progress("points planned", CountProgress::Total::exact,
                         command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  return sweep_rows(
      plan, command.shard,
      {.jobs = jobs,
       .lays_out = command.dry_run,
       .on_point = [&progress](std::size_t done, std::size_t all) { progress.update(done, all); }});
}

fs::path folder_of(const SweepPlan& plan, const SweepCommand& command) {
  return command.output.value_or(default_folder(plan, command.shard));
}

void run(Sweep& sweep, const SweepCommand& command) {
  SweepProgress progress(command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  sweep.run([&progress](const SweepCounts& counts) { progress.update(counts); });
}

// Shards in the folders that they have by default lie beside one another, and share one.
fs::path known_beside(const SweepPlan& plan, const SweepCommand& command) {
  const fs::path results = folder_of(plan, command);
  const bool with_others = command.shard.count > 1 && !command.output;
  return (with_others ? results.parent_path() : results) / kKnownFolder;
}

int sweep_here(const SweepPlan& plan, const SweepCommand& command, int jobs) {
  const fs::path folder = folder_of(plan, command);
  const fs::path beside = known_beside(plan, command);
  const std::optional<fs::path> known_in = known_folder(command.known, beside);
  const std::unique_ptr<KnownRuns> known = known_runs(command.known, known_in);
  Sweep sweep(plan,
              {.folder = folder,
               .sets = command.sets,
               .shard = command.shard,
               .jobs = jobs,
               .retry = command.retry,
               .command = text_of_sweep(command),
               .known = known.get()},
              messages_of_sweep());
  std::vector<SweepRow> rows;
  try {
    rows = planned_rows(plan, command, jobs);
  } catch (const Interrupted&) {
    spdlog::warn("stopped while the points were being planned; the same command continues");
    return exit_code::interrupted;
  }
  const std::size_t all = rows.size();
  sweep.resume(std::move(rows));
  run(sweep, command);
  const std::vector<Row> done = sweep.finish();
  const int code = tell_outcome(done, columns_of(plan), folder);
  const std::size_t left = all - done.size();
  if (left == 0) {
    // Nobody needs it for these points again; who wants to keep it names a folder.
    const bool was_named = !command.known.folder.empty();
    if (!was_named && known_in == folder / kKnownFolder) KnownFiles::remove(*known_in);
    return code;
  }
  spdlog::warn("stopped with {} {} left; the same command continues", left,
               plural(left, "point", "points"));
  return exit_code::interrupted;
}

Planned planned(const SweepPlan& plan, const SweepCommand& command) {
  Planned planned;
  planned.reads = {command.file, plan.scenario};
  std::vector<std::string> names = table_names();
  names.insert(names.end(), {"sweep.json", "results.jsonl", "earlier.jsonl", "started.txt"});
  planned.write("--output", folder_of(plan, command), names);
  return planned;
}

}  // namespace

std::string text_of_sweep(const SweepCommand& command) {
  return command.only.empty() ? "weft sweep"
                              : fmt::format("weft sweep --only {}", fmt::join(command.only, ","));
}

int sweep_command(const SweepCommand& command) {
  if (command.status) return slurm_status(command);
  const LoadedPlan loaded =
      load_plan(command.file, {.sets = command.sets, .config_dirs = config_dirs});
  print_problems(or_its_command(loaded.problems, command.file, FileKind::sweep));
  if (!loaded.plan) return exit_code::user;
  const std::optional<SweepPlan> chosen = plan_of_points(*loaded.plan, command.only);
  if (!chosen) return exit_code::user;
  const SweepPlan& plan = *chosen;
  if (command.shard.count > plan.points.size()) {
    spdlog::error("{} shards, but only {} points", command.shard.count, plan.points.size());
    return exit_code::user;
  }
  if (command.launcher == Launcher::slurm && !command.dry_run) return sweep_on_slurm(plan, command);
  const int jobs = jobs_or_cores(command.jobs);
  if (command.dry_run) return print_points(plan, planned_rows(plan, command, jobs), command.only);
  if (refused(planned(plan, command))) return exit_code::user;
  catch_interrupts();
  return sweep_here(plan, command, jobs);
}

}  // namespace weft
