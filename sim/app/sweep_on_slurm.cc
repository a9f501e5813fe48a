#include "sim/app/sweep_on_slurm.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/sweep_outcome.h"
#include "sim/app/sweep_points.h"
#include "sim/app/sweep_progress.h"
#include "sim/run/exit_code.h"
#include "sim/run/replay_text.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/slurm_sweep.h"
#include "sim/sweep/sweep_rows.h"

namespace weft {
namespace {

SlurmSweep slurm_sweep(const SweepPlan& plan, const SweepCommand& command) {
  const std::filesystem::path folder = command.output.value_or(default_folder(plan, {}));
  SlurmOptions slurm = command.slurm;
  slurm.only = command.only;
  slurm.known = known_arguments(command.known, known_folder(command.known, folder / kKnownFolder));
  return {plan,
          {.folder = folder,
           .sets = command.sets,
           .shard = command.shard,
           .jobs = std::max(command.jobs, 1),
           .command = text_of_sweep(command)},
          slurm,
          messages_of_sweep()};
}

bool wait(SlurmSweep& sweep, const SweepCommand& command) {
  SweepProgress progress(command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  return sweep.wait([&progress](const SweepCounts& counts) { progress.update(counts); });
}

int merge(SlurmSweep& sweep, const SweepPlan& plan) {
  const std::optional<Merged> merged = sweep.merge();
  if (!merged) return exit_code::user;
  const int code = tell_outcome(merged->rows, columns_of(plan), sweep.folder());
  if (!merged->problems.empty()) return std::max(code, exit_code::user);
  KnownFiles::remove(sweep.folder() / kKnownFolder);
  return code;
}

int tell_state(const SweepPlan& plan, const SweepCommand& command) {
  SlurmSweep sweep = slurm_sweep(plan, command);
  const SlurmSweep::State state = sweep.state();
  fmt::print("{}\n", progress_text(state.counts, 0));
  if (state.finished) return merge(sweep, plan);
  if (!state.tasks) {
    fmt::print("Slurm does not respond\n");
    return exit_code::machine;
  }
  fmt::print("{} tasks: {} waiting, {} running, {} ended without all their results\n",
             sweep.tasks(), state.tasks->waiting, state.tasks->running, state.tasks->lost);
  return exit_code::ok;
}

}  // namespace

int sweep_on_slurm(const SweepPlan& plan, const SweepCommand& command) {
  SlurmSweep sweep = slurm_sweep(plan, command);
  sweep.launch();
  if (command.detach) {
    spdlog::info("{} tasks, job name {}; weft sweep --status {} shows their progress",
                 sweep.tasks(), sweep.name(), shell_quoted(sweep.folder().string()));
    return exit_code::ok;
  }
  catch_interrupts();
  if (!wait(sweep, command)) {
    spdlog::warn(
        "the tasks continue; the same command waits for them again, scancel --name={} ends "
        "them",
        sweep.name());
    return exit_code::interrupted;
  }
  return merge(sweep, plan);
}

int slurm_status(const SweepCommand& command) {
  const auto note = read_note(*command.status);
  if (const auto* why = std::get_if<std::string>(&note)) {
    spdlog::error("{}", *why);
    return exit_code::user;
  }
  const auto& as_started = std::get<SlurmNote>(note);
  SweepCommand started = command;
  started.output = command.status;
  started.file = as_started.file;
  started.sets = as_started.sets;
  started.only = as_started.only;
  started.slurm.max_jobs = as_started.max_jobs;
  started.slurm.points_per_job = as_started.points_per_job;
  started.slurm.points_per_job = as_started.points_per_job;
  const LoadedPlan loaded =
      load_plan(started.file, {.sets = started.sets, .config_dirs = config_dirs});
  print_problems(loaded.problems);
  if (!loaded.plan) return exit_code::user;
  const std::optional<SweepPlan> plan = plan_of_points(*loaded.plan, started.only);
  return plan ? tell_state(*plan, started) : exit_code::user;
}

}  // namespace weft
