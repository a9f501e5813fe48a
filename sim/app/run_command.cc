#include "sim/app/run_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>

#include "sim/app/config_dirs.h"
#include "sim/app/exit_code.h"
#include "sim/app/memory.h"
#include "sim/app/memory_limit.h"
#include "sim/app/progress.h"
#include "sim/app/version.h"
#include "sim/engine/partition.h"
#include "sim/engine/simulate.h"
#include "sim/report/measures.h"
#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "sim/report/write_files.h"
#include "sim/scenario/load.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

void print_problems(const Diagnostics& problems, Print print) {
  if (print == Print::nothing && !problems.has_errors()) return;
  fmt::print(stderr, "{}", problems.to_text());
}

void print_tasks(const Scenario& scenario, const Cluster& cluster) {
  for (const Mode mode : scenario.modes) {
    const Partition partition = choose_partition(scenario, cluster, mode);
    fmt::print("mode: {}\n{}", name_of(mode),
               to_text(lower(with_partition(scenario, partition), cluster, mode)));
  }
}

// The task graph lives here only: those of two modes never take memory together.
ModeRun run_mode(const Scenario& scenario, const Cluster& cluster, Mode mode, Print print) {
  using Clock = std::chrono::steady_clock;
  ModeRun run;
  run.partition = choose_partition(scenario, cluster, mode);
  const TaskGraph graph = lower(with_partition(scenario, run.partition), cluster, mode);
  const bool quiet = print == Print::nothing;
  ProgressLine line(mode, quiet ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
  const Clock::time_point start = Clock::now();
  run.result = simulate(cluster, graph, scenario.run,
                        [&line](const Progress& progress) { line.update(progress); });
  run.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  run.result.mode = mode;
  return run;
}

void deliver(const RunCommand& command, const RunReport& report) {
  if (command.output) {
    write_files(*command.output, result_files(report));
    spdlog::info("results are in {}", command.output->string());
  }
  if (command.print == Print::json) fmt::print("{}", summary_json(report));
  if (command.print == Print::table) fmt::print("{}", table(report));
}

}  // namespace

int run_command(const RunCommand& command) {
  const Loaded loaded = load_scenario(
      command.scenario, {.sets = command.sets, .config_dirs = config_dirs(command.scenario)});
  print_problems(loaded.problems, command.print);
  if (!loaded.scenario) return exit_code::user;
  const Scenario& scenario = *loaded.scenario;
  if (command.stop_after == Stage::scenario) {
    fmt::print("{}", to_text(scenario));
    return exit_code::ok;
  }

  const Cluster cluster = build_cluster(scenario.cluster);
  if (command.stop_after == Stage::cluster) {
    fmt::print("{}", to_text(cluster));
    return exit_code::ok;
  }

  const Diagnostics too_large = check_memory(scenario, cluster, command.scenario.string());
  print_problems(too_large, command.print);
  if (too_large.has_errors()) return exit_code::user;
  if (command.stop_after == Stage::tasks) {
    print_tasks(scenario, cluster);
    return exit_code::ok;
  }

  if (command.output) expect_writable(*command.output);
  RunReport report{.scenario = scenario,
                   .cluster = cluster,
                   .runs = {},
                   .version = kVersion,
                   .command = replay_text(command),
                   .inputs = loaded.inputs};
  for (const Mode mode : scenario.modes) {
    report.runs.push_back(run_mode(scenario, cluster, mode, command.print));
    const RunResult& result = report.runs.back().result;
    if (result.ending == Ending::finished) continue;
    spdlog::error("{}: {}: {}", scenario.name, name_of(mode), result.stopped_because);
    return exit_code::user;
  }
  report.peak_rss_bytes = peak_rss_bytes();

  if (const std::string wrong = imbalance(report); !wrong.empty()) {
    spdlog::error("a mistake of weft's own: the ledger does not balance, so no results: {} ({})",
                  wrong, report.command);
    return exit_code::ours;
  }
  deliver(command, report);
  return exit_code::ok;
}

}  // namespace weft
