#include "sim/run/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "sim/models/collective_rules.h"
#include "sim/models/join_ranks.h"
#include "sim/models/links_bound.h"
#include "sim/models/lower_bound.h"
#include "sim/models/pieces.h"
#include "sim/report/measures.h"
#include "sim/report/timeline_memory.h"
#include "sim/run/exit_code.h"
#include "sim/run/memory.h"
#include "sim/run/memory_limit.h"
#include "sim/run/version.h"
#include "sim/scenario/modes.h"

namespace weft {

ScenarioRun::ScenarioRun(const Loaded& loaded)
    : scenario_(*loaded.scenario),
      places_(loaded.places),
      inputs_(loaded.inputs),
      cluster_(build_cluster(scenario_.cluster)),
      model_(model_of(scenario_)) {
  cluster_.own_choices.known_runs = scenario_.run.known;
  inputs_.insert(inputs_.end(), model_.inputs.begin(), model_.inputs.end());
  model_.problems = places_.placed(model_.problems, scenario_.name);
  if (!ready()) return;
  if (is_trace(scenario_.workload.kind)) model_.graph = join_ranks(*model_.graph);
  alike_ = alike_copies(scenario_, cluster_, graph());
  cut_into_pieces();
}

void ScenarioRun::cut_into_pieces() {
  const ModelGraph& what = simulated_graph();
  pieces_ = folds() ? pieces_of(what, simulated()) : unfolded(what).pieces;
}

const std::vector<Piece>& ScenarioRun::pieces() const {
  return run_ ? run_->folded().pieces : pieces_;
}

// Folded when it is run: to plan a run does without.
SustainedRun& ScenarioRun::model_run() {
  if (run_) return *run_;
  pieces_.clear();
  run_.emplace(scenario_, simulated(), simulated_graph());
  if (record_) run_->record(*record_);
  return *run_;
}

// Without which there are no results.
Needs ScenarioRun::least_needs(Mode mode) const {
  Needs needs = estimated_needs(pieces(), scenario_, simulated(), mode);
  needs.memory += memory_of_copies();
  return needs;
}

// By of_all_copies().
Bytes ScenarioRun::memory_of_copies() const {
  return alike_ ? Transport::memory(cluster_.network) : Bytes();
}

Diagnostics ScenarioRun::check(const std::string& file) const {
  Diagnostics problems =
      check_memory(scenario_, file, [this](Mode mode) { return least_needs(mode); });
  const auto add_at = [&](const char* rules, const AboutRule& about) {
    Diagnostic problem;
    problem.at.file = file;
    problem.path = fmt::format("workload.{}[{}].{}", rules, about.rule, about.key);
    problem.message = about.message;
    problem.severity = about.severity;
    problems.add(std::move(problem));
  };
  for (const AboutRule& idle :
       idle_rules(scenario_.workload.collectives, graph(), cluster_, scenario_.collective)) {
    add_at("collectives", idle);
  }
  const std::vector<Mode>& modes = scenario_.modes;
  if (std::find(modes.begin(), modes.end(), Mode::mixed) == modes.end()) {
    return places_.placed(problems, file);
  }
  const auto add = [&](const AboutRule& about) { add_at("pairs", about); };
  const PairRules& rules = scenario_.workload.pairs;
  for (const AboutRule& idle : idle_rules(rules, pieces(), simulated())) {
    add(idle);
  }
  const OverlapOptions options = overlap_options(scenario_);
  for (const AboutRule& fitted : fitted_slices(rules, pieces(), simulated(), options)) {
    add(fitted);
  }
  for (const AboutRule& idle : idle_knobs(rules, pieces(), simulated(), options)) add(idle);
  return places_.placed(problems, file);
}

double ScenarioRun::lower_bound_us() const {
  return std::max(weft::lower_bound_us(simulated_graph(), cluster_.spec.gpu),
                  links_bound_us(simulated_graph(), simulated().network));
}

Rates ScenarioRun::rates_in(Duration time) const {
  const std::optional<StepWork> work = work_of_step(scenario_, graph());
  return rates({scenario_, cluster_.spec, work}, time);
}

// With what may lie beside one another: whether it does is known only when it is run.
Bytes ScenarioRun::memory() const {
  Bytes most;
  for (const Mode mode : scenario_.modes) {
    most = std::max(most, least_needs(mode).memory);
    if (!folds()) continue;
    const Needs beside = estimated_needs_beside(pieces(), scenario_, simulated(), mode);
    most = std::max(most, beside.memory + memory_of_copies());
  }
  return most;
}

// Of each mode a recording; of a whole model's pieces each its own, and those that are alike in all
// modes are kept for the next.
Bytes ScenarioRun::tracks_of_recordings(Detail detail) const {
  const Bytes all = tracks_memory(cluster_, detail);
  Bytes sum = all * static_cast<std::int64_t>(scenario_.modes.size());
  if (!is_model(scenario_.workload.kind)) return sum;
  for (const Piece& piece : pieces()) {
    sum += piece.in_a_node ? bytes(2 * all.count() / scenario_.cluster.nodes) : all * 2;
  }
  return sum;
}

std::optional<Bytes> ScenarioRun::room_for_timeline(Detail detail, const std::string& file,
                                                    Diagnostics& problems) const {
  Diagnostics found;
  const std::optional<Bytes> room =
      weft::room_for_timeline(scenario_, file, memory(), tracks_of_recordings(detail), found);
  problems.append(places_.placed(found, file));
  return room;
}

std::string ScenarioRun::tasks_text(Mode mode) { return model_run().tasks_text(mode); }

ScenarioRun::Ways ScenarioRun::ways(const PairTrials& how) const {
  Scenario scenario = scenario_;
  scenario.run.cores = how.at_a_time;
  ModelRun model(scenario, simulated(), simulated_graph());
  std::vector<PairWays> pairs = pair_ways(model, scenario, how);
  return {.pairs = std::move(pairs),
          .collectives = collective_ways(model, scenario, simulated(), how)};
}

void ScenarioRun::record(const RecordOptions& what) {
  record_ = what;
  if (alike_ && what.detail > Detail::intervals) {  // every GPU has a track
    alike_.reset();
    run_.reset();
    cut_into_pieces();
  }
  if (run_) run_->record(what);
}

ModeRun ScenarioRun::run_mode(Mode mode, const OnProgress& on_progress) {
  using Clock = std::chrono::steady_clock;
  ModeRun run;
  const Clock::time_point start = Clock::now();
  run.result = model_run().run(mode, on_progress);
  run.partition = run_->partition();
  run.recording = run_->take_recording();
  // What was refused before it began has no GPUs to multiply.
  const bool ran = !run.result.gpus.empty();
  if (alike_ && ran) run.result = of_all_copies(std::move(run.result), alike_->cluster);
  run.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  run.result.mode = mode;
  return run;
}

std::variant<RunReport, Failure> ScenarioRun::run(const std::string& command, const Watch& watch) {
  RunReport report{.scenario = scenario_,
                   .cluster = cluster_,
                   .simulated_gpus = simulated().gpus(),
                   .runs = {},
                   .candidates = {},
                   .work = work_of_step(scenario_, graph()),
                   .recorded = model_.step,
                   .moved = model_.moved,
                   .version = kVersion,
                   .command = command,
                   .inputs = inputs_};
  for (const Mode mode : scenario_.modes) {
    report.runs.push_back(run_mode(mode, watch ? watch(mode) : OnProgress()));
    const RunResult& result = report.runs.back().result;
    if (result.ending == Ending::finished) continue;
    return Failure{exit_code::user, fmt::format("{}: {}: {}", scenario_.name, name_of(mode),
                                                result.stopped_because)};
  }
  report.candidates = model_run().candidates();
  report.tries_pairs = model_run().tries_pairs();
  report.peak_rss_bytes = peak_rss_bytes();
  if (const std::string wrong = imbalance(report); !wrong.empty()) {
    return Failure{
        exit_code::ours,
        fmt::format("a bug in weft: the ledger does not balance, so there are no results: {} ({})",
                    wrong, command)};
  }
  return report;
}

}  // namespace weft
