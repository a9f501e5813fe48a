#include "sim/app/tuned_sweep.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/app/sweep_outcome.h"
#include "sim/core/diagnostics.h"
#include "sim/files/staged.h"
#include "sim/run/replay_text.h"
#include "sim/scenario/wrong_file.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/sweep_rows.h"
#include "sim/sweep/tables.h"
#include "sim/tune/answer.h"
#include "sim/tune/told.h"
#include "sim/tune/tune.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Tasks share what they have simulated, until the search has ended.
SlurmOptions slurm_of(const TuneCommand& command, const fs::path& folder) {
  SlurmOptions slurm = command.slurm;
  slurm.known = known_arguments(command.known,
                                known_folder(command.known, fs::absolute(folder) / kKnownFolder));
  return slurm;
}

Objectives wanted(const TuneCommand& command) {
  return command.objectives.empty() ? Objectives{Objective{}} : command.objectives;
}

std::string command_text(const TuneCommand& command) {
  std::string text = fmt::format("weft tune --points {}", command.points);
  for (const Objective& objective : wanted(command)) {
    text += fmt::format(" --{} {}", objective.larger_is_better ? "maximize" : "minimize",
                        shell_quoted(objective.column));
  }
  return text + fmt::format(" --tie {:g}", command.tie_percent);
}

Planned planned(const SweepPlan& plan, const TuneCommand& command, const fs::path& folder) {
  Planned planned;
  planned.reads = {command.file, plan.scenario};
  std::vector<std::string> names = table_names();
  names.insert(names.end(), {"sweep.json", "results.jsonl", "earlier.jsonl", "started.txt",
                             "tune.json", "best.yaml"});
  planned.write("--output", folder, names);
  return planned;
}

// Of any mode; what it is of is left to the column's own message.
bool is_cost(const std::string& column) {
  return column == "cost" || column.ends_with("_cost") ||
         column.ends_with("cost_per_million_tokens");
}

// Which of them these results lack.
int tell_no_column(const Objectives& objectives, const std::string& summary) {
  const auto lacking = std::find_if(objectives.begin(), objectives.end(),
                                    [&](const Objective& one) { return !achieved(one, summary); });
  const std::string& column =
      lacking == objectives.end() ? objectives.front().column : lacking->column;
  const std::vector<std::string> columns = columns_in(summary);
  if (is_cost(column) && std::none_of(columns.begin(), columns.end(), is_cost)) {
    spdlog::error("'{}' needs the price of a GPU's hour, as in --set run.gpu_hour_price=2.5",
                  column);
    return exit_code::user;
  }
  const std::string meant = nearest(column, columns);
  spdlog::error("there is no column '{}'{}", column,
                meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
  return exit_code::user;
}

int tell_why_nothing(const Tuned& tuned, const SweepPlan& plan, const TuneCommand& command,
                     const fs::path& folder) {
  const Objectives objectives = wanted(command);
  if (tuned.lacks_column) return tell_no_column(objectives, tuned.start->outcome.summary);
  for (const Row& row : tuned.rows) {
    if (row.outcome.ok) return tell_no_column(objectives, row.outcome.summary);
  }
  fmt::print(stderr, "{}", tuned.start_problems);
  const int code = tell_outcome(tuned.rows, columns_of(plan), folder);
  spdlog::error("no point can be run, so none is the best");
  return std::max<int>(code, exit_code::user);
}

int worst_of(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.outcome.exit_code == exit_code::ours) {
      spdlog::error("{}", row.outcome.error);
      return exit_code::ours;
    }
  }
  return exit_code::ok;
}

void write(const Told& told, const fs::path& folder, const Point& best) {
  PointLoader loader(told.plan);
  Staged staged(Staged::Durable::yes);
  staged.add(folder / "best.yaml", to_text(*loader.load(best).scenario));
  staged.add(folder / "tune.json", json_of(told));
  staged.commit();
}

TunedSweep outcome_of(const Told& told, const fs::path& folder) {
  const Trial& best = told.answer.trials.front();
  return {.folder = folder,
          .best = value_text(best.achieved),
          .knobs = name_of(*best.row, columns_of(told.plan)),
          .as_it_is = told.answer.start ? value_text(told.answer.start->achieved) : "-",
          .cost = cost_of(told.objective(), best.achieved.value),
          .text = text_of(told),
          .json = json_of(told)};
}

Tuned tune(const SweepPlan& plan, const TuneOptions& options, bool quiet) {
  CountProgress progress(fmt::format("points of {} simulated", plan.name),
                         CountProgress::Total::at_most,
                         quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  SweepMessages messages = messages_of_sweep();
  // Not what was finished before: a search asks step by step.
  messages.info = [](const std::string&) {};
  return tune(plan, options, messages, [&progress](const TuneCounts& counts) {
    progress.update(counts.simulated, counts.at_most);
  });
}

TunedSweep tune_in(const SweepPlan& plan, const TuneCommand& command, const fs::path& folder,
                   KnownRuns& known) {
  const bool on_slurm = command.launcher == Launcher::slurm;
  const TuneOptions options{
      .sweep = {.folder = folder,
                .sets = command.sets,
                .jobs = on_slurm ? std::max(command.jobs, 1) : jobs_or_cores(command.jobs),
                .command = command_text(command),
                .known = &known},
      .objectives = wanted(command),
      .slurm = on_slurm ? std::optional(slurm_of(command, folder)) : std::nullopt,
      .most_points = command.points};
  const Tuned tuned = tune(plan, options, command.quiet);
  if (on_slurm && !tuned.was_stopped && !tuned.gave_up) KnownFiles::remove(folder / kKnownFolder);
  const double tie = command.tie_percent / 100;
  const Answer answer = answer_of(plan, tuned, options.objectives, tie);
  if (answer.trials.empty()) {
    remove_file(folder / "best.yaml");  // of an earlier search
    remove_file(folder / "tune.json");
    if (tuned.was_stopped) return {.code = exit_code::interrupted};
    if (tuned.gave_up) return {.code = exit_code::user};
    return {.code = tell_why_nothing(tuned, plan, command, folder),
            .lacks_column = tuned.lacks_column};
  }
  const Told told{.plan = plan,
                  .tuned = tuned,
                  .answer = answer,
                  .objectives = options.objectives,
                  .tie = tie,
                  .command = info_of(plan, options.sweep).command};
  write(told, folder, plan.points[answer.trials.front().row->row]);
  TunedSweep outcome = outcome_of(told, folder);
  outcome.code = tuned.was_stopped ? exit_code::interrupted
                                   : std::max<int>(worst_of(tuned.rows),
                                                   tuned.gave_up ? exit_code::user : exit_code::ok);
  return outcome;
}

}  // namespace

TunedSweep tune_sweep(const fs::path& file, const TuneCommand& command, KnownRuns& known) {
  const LoadedPlan loaded = load_plan(file, {.sets = command.sets, .config_dirs = config_dirs});
  print_problems(or_its_command(loaded.problems, file, FileKind::sweep));
  if (!loaded.plan) return {.code = exit_code::user};
  const SweepPlan& plan = *loaded.plan;
  const fs::path folder = command.output.value_or(fs::path("results") / (plan.name + "_tuned"));
  if (refused(planned(plan, command, folder))) return {.code = exit_code::user};
  try {
    return tune_in(plan, command, folder, known);
  } catch (const Interrupted&) {
    return {.code = exit_code::interrupted};
  }
}

}  // namespace weft
