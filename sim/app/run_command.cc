#include "sim/app/run_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/app/colors.h"
#include "sim/app/given_scenario.h"
#include "sim/app/jobs.h"
#include "sim/app/planned.h"
#include "sim/app/run_progress.h"
#include "sim/files/staged.h"
#include "sim/report/gzip.h"
#include "sim/report/numbers.h"
#include "sim/report/result_files.h"
#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "sim/report/timeline.h"
#include "sim/run/exit_code.h"
#include "sim/run/replay_text.h"
#include "sim/run/scenario_run.h"
#include "sim/scenario/load.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/wrong_file.h"
#include "sim/spec/units.h"

namespace weft {
namespace {

enum class Quiet { no, yes };

void print_problems(const Diagnostics& problems, Quiet quiet) {
  if (quiet == Quiet::yes && !problems.has_errors()) return;
  weft::print_problems(problems);
}

bool is_result(const std::string& name) {
  const std::vector<std::string> names = result_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Planned planned(const RunCommand& command, const GivenScenario& given, const ScenarioRun& run) {
  Planned planned;
  planned.reads = given.reads;
  for (const InputFile& input : run.inputs()) planned.reads.emplace_back(input.path);
  if (command.output) planned.write("--output", *command.output, result_names());
  if (command.trace) planned.write("--trace", *command.trace);
  return planned;
}

void say_what_was_left_out(const std::vector<std::string>& left_out, const RunCommand& command,
                           const TimelineOptions& options, Bytes max_memory) {
  for (const std::string& what : left_out) spdlog::warn("left out of the timeline: {}", what);
  if (left_out.empty() || options.limit >= command.timeline.limit) return;
  spdlog::warn("run.max_memory, {}, leaves room for a timeline of {}; --trace-limit would allow {}",
               to_text(max_memory), bytes_text(options.limit.count()),
               bytes_text(command.timeline.limit.count()));
}

// All of it or none.
void write(const RunCommand& command, const TimelineOptions& options, const RunReport& report) {
  Staged staged;
  if (command.output) {
    for (const OutputFile& file : result_files(report)) {
      staged.add(*command.output / file.name, file.content);
    }
    staged.add_manifest(*command.output / kFilesOfResult, is_result);
  }
  std::vector<std::string> left_out;
  if (command.trace) {
    Timeline shown = timeline(report, options);
    const bool packed = command.trace->extension() == ".gz";
    staged.add(*command.trace, packed ? gzipped(shown.json) : std::move(shown.json));
    left_out = std::move(shown.left_out);
  }
  staged.commit();
  if (command.output) spdlog::info("results are in {}", command.output->string());
  if (command.trace) {
    spdlog::info("the timeline is in {}: open it at ui.perfetto.dev", command.trace->string());
    say_what_was_left_out(left_out, command, options, report.scenario.run.max_memory);
  }
}

void deliver(const RunCommand& command, const TimelineOptions& options, const RunReport& report) {
  write(command, options, report);
  if (command.print == Print::json) fmt::print("{}", summary_json(report));
  if (command.print == Print::table) print_text(table(report));
}

std::variant<RunReport, Failure> run_all(ScenarioRun& run, const RunCommand& command, int gpus) {
  RunProgress progress(gpus, command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  return run.run(replay_text(command.scenario, command.sets),
                 [&progress](Mode mode) { return progress.begin(mode); });
}

// With no more of a timeline than run.max_memory has room for; nothing where that is too little.
std::optional<TimelineOptions> timeline_within_memory(const RunCommand& command,
                                                      const std::string& file,
                                                      const ScenarioRun& run) {
  TimelineOptions options = command.timeline;
  if (!command.trace) return options;
  Diagnostics problems;
  const std::optional<Bytes> room = run.room_for_timeline(options.detail, file, problems);
  print_problems(problems, command.quiet ? Quiet::yes : Quiet::no);
  if (!room) return std::nullopt;
  options.limit = std::min(options.limit, *room);
  return options;
}

}  // namespace

int run_command(const RunCommand& command) {
  const Quiet quiet = command.quiet ? Quiet::yes : Quiet::no;
  GivenScenario given = load_given(command.scenario, command.sets);
  Loaded& loaded = given.loaded;
  print_problems(loaded.problems, quiet);
  if (!loaded.scenario) return exit_code::user;
  loaded.scenario->run.cores = jobs_or_cores(command.jobs);
  std::unique_ptr<KnownRuns> known;
  if (const auto folder = known_folder(command.known)) {
    known = known_runs(command.known, folder);
    loaded.scenario->run.known = known.get();
  }
  const Scenario& scenario = *loaded.scenario;
  if (command.stop_after == StopAfter::scenario) {
    fmt::print("{}", to_text(scenario));
    return exit_code::ok;
  }

  if (command.stop_after == StopAfter::cluster) {
    fmt::print("{}", to_text(build_cluster(scenario.cluster)));
    return exit_code::ok;
  }

  ScenarioRun run(loaded);
  print_problems(run.problems(), quiet);
  if (!run.ready()) return exit_code::user;
  const bool tells = command.print == Print::table && command.stop_after == StopAfter::results;
  if (tells) print_text(run.trace_text());
  if (command.stop_after == StopAfter::model) {
    print_text(to_text(run.graph()));
    return exit_code::ok;
  }
  const Diagnostics problems = run.check(given.name);
  print_problems(problems, quiet);
  if (problems.has_errors()) return exit_code::user;
  if (command.stop_after == StopAfter::tasks) {
    for (const Mode mode : scenario.modes) {
      print_text(fmt::format("mode: {}\n{}", name_of(mode), run.tasks_text(mode)));
    }
    return exit_code::ok;
  }

  const std::optional<TimelineOptions> options = timeline_within_memory(command, given.name, run);
  if (!options || refused(planned(command, given, run))) return exit_code::user;
  if (command.trace) {
    run.record(record_options(*options, scenario.modes.size()));
  } else if (command.output) {
    run.record({});
  }
  const auto outcome = run_all(run, command, scenario.cluster.gpus());
  if (const Failure* failure = std::get_if<Failure>(&outcome)) {
    spdlog::error("{}", failure->why);
    return failure->exit_code;
  }
  deliver(command, *options, std::get<RunReport>(outcome));
  return exit_code::ok;
}

}  // namespace weft
