#include "sim/app/run_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <variant>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/exit_code.h"
#include "sim/app/memory_limit.h"
#include "sim/app/run_progress.h"
#include "sim/app/scenario_run.h"
#include "sim/app/wrong_file.h"
#include "sim/report/gzip.h"
#include "sim/report/numbers.h"
#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "sim/report/timeline.h"
#include "sim/report/write_files.h"
#include "sim/scenario/load.h"
#include "sim/scenario/units.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

enum class Quiet { no, yes };

void print_problems(const Diagnostics& problems, Quiet quiet) {
  if (quiet == Quiet::yes && !problems.has_errors()) return;
  weft::print_problems(problems);
}

void deliver(const RunCommand& command, const TimelineOptions& options, const RunReport& report) {
  if (command.output) {
    write_files(*command.output, result_files(report));
    spdlog::info("results are in {}", command.output->string());
  }
  if (command.trace) {
    Timeline shown = timeline(report, options);
    if (command.trace->extension() == ".gz") shown.json = gzipped(shown.json);
    write_file(*command.trace, shown.json);
    spdlog::info("the timeline is in {}: open it at ui.perfetto.dev", command.trace->string());
    for (const std::string& what : shown.left_out) {
      spdlog::warn("left out of the timeline: {}", what);
    }
    if (!shown.left_out.empty() && options.limit < command.timeline.limit) {
      spdlog::warn("run.max_memory, {}, has room for a timeline of {}; --trace-limit allows {}",
                   to_text(report.scenario.run.max_memory), bytes_text(options.limit.count()),
                   bytes_text(command.timeline.limit.count()));
    }
  }
  if (command.print == Print::json) fmt::print("{}", summary_json(report));
  if (command.print == Print::table) print_text(table(report));
}

std::variant<RunReport, Failure> run_all(ScenarioRun& run, const RunCommand& command, int gpus) {
  RunProgress progress(gpus, command.quiet ? ProgressLine::Show::no : ProgressLine::Show::yes);
  return run.run(replay_text(command), [&progress](Mode mode) { return progress.begin(mode); });
}

// With no more of a timeline than run.max_memory has room for; nothing where that is too little.
std::optional<TimelineOptions> timeline_within_memory(const RunCommand& command,
                                                      const Scenario& scenario,
                                                      const ScenarioRun& run) {
  TimelineOptions options = command.timeline;
  if (!command.trace) return options;
  Diagnostics problems;
  const std::optional<Bytes> room =
      room_for_timeline(scenario, command.scenario.string(), run.memory(),
                        run.tracks_of_recordings(options.detail), problems);
  print_problems(problems, command.print);
  if (!room) return std::nullopt;
  options.limit = std::min(options.limit, *room);
  return options;
}

}  // namespace

int run_command(const RunCommand& command) {
  const Quiet quiet = command.quiet ? Quiet::yes : Quiet::no;
  const Loaded loaded = load_scenario(
      command.scenario, {.sets = command.sets, .config_dirs = config_dirs(command.scenario)});
  print_problems(or_its_command(loaded.problems, command.scenario, FileKind::scenario), quiet);
  if (!loaded.scenario) return exit_code::user;
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
  const Diagnostics too_large = run.check_size(command.scenario.string());
  print_problems(too_large, quiet);
  if (too_large.has_errors()) return exit_code::user;
  if (command.stop_after == StopAfter::tasks) {
    for (const Mode mode : scenario.modes) {
      print_text(fmt::format("mode: {}\n{}", name_of(mode), run.tasks_text(mode)));
    }
    return exit_code::ok;
  }

  const std::optional<TimelineOptions> options = timeline_within_memory(command, scenario, run);
  if (!options) return exit_code::user;
  if (command.output) expect_writable(*command.output);
  if (command.trace) expect_writable(fs::absolute(*command.trace).parent_path());
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
