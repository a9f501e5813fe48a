#include "sim/app/run_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "sim/app/config_dirs.h"
#include "sim/app/exit_code.h"
#include "sim/app/memory.h"
#include "sim/app/memory_limit.h"
#include "sim/app/model_of.h"
#include "sim/app/progress.h"
#include "sim/app/version.h"
#include "sim/engine/partition.h"
#include "sim/engine/simulate.h"
#include "sim/models/needs.h"
#include "sim/models/run_model.h"
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

using Clock = std::chrono::steady_clock;

// A scenario ready to be run in any of its modes: an operator and its collective, or a whole model.
class Runner {
 public:
  Runner(const Scenario& scenario, const Cluster& cluster, const ModelGraph& graph)
      : scenario_(scenario), cluster_(cluster) {
    if (!is_model(scenario.workload.kind)) return;
    const Folded folded = scenario.run.repeats_once ? fold(graph, cluster) : unfolded(graph);
    model_.emplace(scenario, cluster, folded);
  }

  [[nodiscard]] Needs needs_of(Mode mode) const {
    return model_ ? estimated_needs(model_->folded(), scenario_, cluster_, mode)
                  : estimated_needs(scenario_, cluster_, mode);
  }

  void print_tasks() {
    for (const Mode mode : scenario_.modes) {
      fmt::print("mode: {}\n", name_of(mode));
      if (model_) {
        fmt::print("{}", model_->tasks_text(mode));
        continue;
      }
      const Partition partition = choose_partition(scenario_, cluster_, mode);
      fmt::print("{}", to_text(lower(with_partition(scenario_, partition), cluster_, mode)));
    }
  }

  // The task graph lives here only: those of two modes never take memory together.
  ModeRun run(Mode mode, Print print) {
    ModeRun run;
    const bool quiet = print == Print::nothing;
    ProgressLine line(mode, quiet ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
    const auto on_progress = [&line](const Progress& progress) { line.update(progress); };
    const Clock::time_point start = Clock::now();
    if (model_) {
      run.result = model_->run(mode, on_progress);
    } else {
      run.partition = choose_partition(scenario_, cluster_, mode);
      const TaskGraph graph = lower(with_partition(scenario_, run.partition), cluster_, mode);
      run.result = simulate(cluster_, graph, scenario_.run, on_progress);
    }
    run.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    run.result.mode = mode;
    return run;
  }

  std::vector<Candidate> candidates() {
    return model_ ? model_->candidates() : std::vector<Candidate>();
  }

 private:
  const Scenario& scenario_;
  const Cluster& cluster_;
  std::optional<ModelRun> model_;
};

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

  Model model = model_of(scenario);
  print_problems(model.problems, command.print);
  if (!model.graph) return exit_code::user;
  const bool tells = command.print == Print::table && command.stop_after == Stage::results;
  if (tells) fmt::print("{}", model.trace);
  const ModelGraph graph = *std::move(model.graph);
  if (command.stop_after == Stage::model) {
    fmt::print("{}", to_text(graph));
    return exit_code::ok;
  }
  Runner runner(scenario, cluster, graph);
  const Diagnostics too_large = check_memory(scenario, command.scenario.string(),
                                             [&](Mode mode) { return runner.needs_of(mode); });
  print_problems(too_large, command.print);
  if (too_large.has_errors()) return exit_code::user;
  if (command.stop_after == Stage::tasks) {
    runner.print_tasks();
    return exit_code::ok;
  }

  if (command.output) expect_writable(*command.output);
  RunReport report{.scenario = scenario,
                   .cluster = cluster,
                   .runs = {},
                   .candidates = {},
                   .version = kVersion,
                   .command = replay_text(command),
                   .inputs = loaded.inputs};
  for (const Mode mode : scenario.modes) {
    report.runs.push_back(runner.run(mode, command.print));
    const RunResult& result = report.runs.back().result;
    if (result.ending == Ending::finished) continue;
    spdlog::error("{}: {}: {}", scenario.name, name_of(mode), result.stopped_because);
    return exit_code::user;
  }
  report.candidates = runner.candidates();
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
