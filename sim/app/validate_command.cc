#include "sim/app/validate_command.h"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <string>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/count_progress.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/core/plural.h"
#include "sim/files/staged.h"
#include "sim/measured/errors.h"
#include "sim/run/exit_code.h"
#include "sim/scenario/wrong_file.h"

namespace weft {
namespace {

PredictOptions options_of(const ValidateCommand& command) {
  return {.cluster = command.cluster,
          .config_dirs = config_dirs(command.cluster),
          .kernels = command.kernels,
          .sets = command.sets,
          .jobs = jobs_or_cores(command.jobs),
          .on_progress = {}};
}

Planned planned(const ValidateCommand& command) {
  Planned planned{.reads = inputs_of(options_of(command)), .folders = {}, .writes = {}};
  planned.reads.push_back(command.measured);
  if (command.json) planned.write("--json", *command.json);
  if (command.csv) planned.write("--csv", *command.csv);
  return planned;
}

Predictions simulated(const MeasuredFile& measured, const ValidateCommand& command) {
  CountProgress progress("cases simulated", CountProgress::Total::exact,
                         command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  PredictOptions options = options_of(command);
  std::unique_ptr<KnownRuns> known;  // in memory alone nothing of it would be asked for twice
  if (const auto folder = known_folder(command.known)) known = known_runs(command.known, folder);
  options.known = known.get();
  options.on_progress = [&progress](std::size_t done, std::size_t all) {
    progress.update(done, all);
  };
  return predict(measured.lines, options);
}

void write(const ValidateCommand& command, const ErrorReport& report) {
  Staged staged;
  if (command.json) staged.add(*command.json, error_json(report, command.sets));
  if (command.csv) staged.add(*command.csv, error_csv(report));
  staged.commit();
}

void print_skipped(const Predictions& predictions) {
  for (const auto& [kind, count] : predictions.skipped) {
    spdlog::info("skipped: {} x {}, which weft cannot simulate on this cluster", count, kind);
  }
  for (const auto& [file, count] : predictions.without_kernel) {
    spdlog::warn("left out: {} {} whose kernel file is missing, {}", count,
                 plural(count, "line", "lines"), file);
  }
}

bool exceeds(const char* what, double share, const std::optional<double>& most_percent) {
  if (!most_percent || share * 100 <= *most_percent) return false;
  spdlog::error("the overall {} error is {:.2f} %, more than {} %", what, share * 100,
                *most_percent);
  return true;
}

}  // namespace

int validate_command(const ValidateCommand& command) {
  const MeasuredFile measured = read_measured(command.measured);
  if (measured.problems.has_errors()) {
    print_problems(or_its_command(measured.problems, command.measured, FileKind::unknown));
    return exit_code::user;
  }
  if (refused(planned(command))) return exit_code::user;
  Predictions predictions = simulated(measured, command);
  if (predictions.problems.has_errors()) {
    print_problems(predictions.problems);
    return exit_code::user;
  }
  print_skipped(predictions);
  for (const std::string& note : other_machine(measured, predictions)) spdlog::warn("{}", note);
  if (predictions.outcomes.empty()) {
    spdlog::error("{}: {}", command.measured.string(),
                  why_no_outcomes(predictions, options_of(command)));
    return exit_code::user;
  }
  const ErrorReport report = report_errors(std::move(predictions.outcomes));
  write(command, report);
  if (!command.quiet) print_text(error_table(report));
  const ErrorSummary& all = report.by_kind.back();
  const bool too_far = exceeds("median", all.median, command.max_median);
  return exceeds("90th percentile", all.p90, command.max_p90) || too_far ? exit_code::user
                                                                         : exit_code::ok;
}

}  // namespace weft
