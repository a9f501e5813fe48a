#include "sim/measured/predict.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "sim/core/assert.h"
#include "sim/engine/simulate.h"
#include "sim/measured/library_kernels.h"
#include "sim/measured/public_sets.h"
#include "sim/models/lower_model.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// The keys that the problems are about, and where these are.
std::string places_of(const Diagnostics& problems) {
  std::string places;
  for (const Diagnostic& problem : problems.all()) {
    places += fmt::format("{}:{}:{} {}\n", problem.at.file, problem.at.line, problem.at.column,
                          problem.path);
  }
  return places;
}

// A kernel alone on the first GPU, in a graph.
TaskGraph lower_alone(const OpShape& shape, const Cluster& cluster) {
  ModelGraph graph;
  ModelOp op;
  op.name = op.part = "kernel";
  op.shape = shape;
  op.place = graph.add_place({.groups = {{0}}});
  graph.add(std::move(op));
  OverlapOptions options;
  options.launch = LaunchKind::graph;
  return lower_model(graph, {.options = options, .cluster = cluster});
}

class Simulations {
 public:
  explicit Simulations(const PredictOptions& options) : options_(options) {
    dirs_ = options.config_dirs;
    dirs_.insert(dirs_.begin(), base_name(options.cluster).dir);
  }

  // The cluster, or problems.
  std::optional<ClusterSpec> cluster(Diagnostics& problems) {
    std::vector<std::string> sets{cluster_set()};
    for (const std::string& set : options_.sets) {
      if (!set.starts_with("workload.")) sets.push_back(set);  // another kind's, perhaps
    }
    Loaded loaded = load_any(sets);
    problems.append(loaded.problems);
    if (!loaded.scenario) return std::nullopt;
    run_ = loaded.scenario->run;
    run_.known = options_.known;
    cluster_ = build_cluster(loaded.scenario->cluster);
    cluster_->own_choices.known_runs = options_.known;
    return loaded.scenario->cluster;
  }

  // The files of the cluster, and the scenarios of kernels.
  [[nodiscard]] std::vector<fs::path> inputs() const {
    std::vector<fs::path> files{options_.cluster};
    for (const InputFile& input : load_any({cluster_set()}).inputs) files.emplace_back(input.path);
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(options_.kernels, ignored)) {
      files.push_back(entry.path());
    }
    return files;
  }

  // The file of the case's kernel, if the folder of kernels lacks it.
  [[nodiscard]] std::optional<fs::path> missing_kernel(const Case& one) const {
    if (options_.kernels.empty() || !one.kernels.empty() || one.pair) return std::nullopt;
    const fs::path file = scenario_file(one.scenario);
    if (fs::exists(file)) return std::nullopt;
    return file;
  }

  // Adds the simulation of this case; returns its index in results().
  std::size_t add(const Case& one) {
    if (!one.kernels.empty() || one.pair) {
      cases_.push_back(one);
      return cases_.size() - 1;
    }
    std::string name = fmt::format("{} {}", one.scenario, static_cast<int>(one.mode));
    for (const std::string& set : one.sets) name += ' ' + set;
    const auto [found, fresh] = numbers_.try_emplace(name, cases_.size());
    if (fresh) cases_.push_back(one);
    return found->second;
  }

  [[nodiscard]] std::vector<SimulatedCase> some(const std::vector<std::size_t>& which) const {
    std::vector<SimulatedCase> results;
    results.reserve(which.size());
    for (const std::size_t i : which) results.push_back(simulate_case(cases_.at(i)));
    return results;
  }

  std::vector<SimulatedCase> run() {
    if (options_.elsewhere) return run_elsewhere();
    std::vector<SimulatedCase> results(cases_.size());
    std::mutex reporting;
    std::size_t done = 0;
    tbb::task_arena(options_.jobs).execute([&] {
      tbb::parallel_for(std::size_t{0}, cases_.size(), [&](std::size_t i) {
        results[i] = simulate_case(cases_[i]);
        const std::lock_guard lock(reporting);
        if (options_.on_progress) options_.on_progress(++done, cases_.size());
      });
    });
    return results;
  }

 private:
  [[nodiscard]] std::vector<SimulatedCase> run_elsewhere() const {
    std::vector<SimulatedCase> results = options_.elsewhere(cases_.size());
    if (results.size() == cases_.size()) return results;
    throw std::invalid_argument(
        fmt::format("{} cases were to be simulated elsewhere, but {} came back", cases_.size(),
                    results.size()));
  }

  [[nodiscard]] Loaded load_any(const std::vector<std::string>& sets) const {
    constexpr const char* kAny =
        "name: any\nworkload: {kind: collective, op: all_to_all, bytes: 1 MiB}\nmodes: [bulk]\n";
    return load_scenario_text(kAny, "weft validate", {.sets = sets, .config_dirs = dirs_});
  }

  [[nodiscard]] fs::path scenario_file(const std::string& name) const {
    if (!options_.kernels.empty()) {
      return options_.kernels / (fs::path(name).filename().string() + ".yaml");
    }
    for (const fs::path& folder : dirs_) {
      fs::path file = folder / (name + ".yaml");
      if (fs::exists(file)) return file;
    }
    return name + ".yaml";
  }

  [[nodiscard]] std::string cluster_set() const {
    return fmt::format("cluster={{base: {}}}", base_name(options_.cluster).name);
  }

  [[nodiscard]] Loaded load(const Case& one) const {
    std::vector<std::string> sets{cluster_set(), fmt::format("modes=[{}]", name_of(one.mode))};
    sets.insert(sets.end(), options_.sets.begin(), options_.sets.end());
    sets.insert(sets.end(), one.sets.begin(), one.sets.end());
    return load_scenario(scenario_file(one.scenario), {.sets = sets, .config_dirs = dirs_});
  }

  [[nodiscard]] RunOptions with_known(RunOptions options) const {
    options.known = options_.known;
    return options;
  }

  // Simulates kernels of libraries, each alone and in a graph.
  [[nodiscard]] SimulatedCase simulate_kernels(const std::vector<OpShape>& kernels) const {
    SimulatedCase simulated;
    for (const OpShape& shape : kernels) {
      const RunResult result =
          simulate_or_know(*cluster_, lower_alone(shape, *cluster_), run_).result;
      if (result.ending != Ending::finished) {
        return {.trouble = result.stopped_because + "\n", .mistake = result.stopped_because};
      }
      SIM_ASSERT(result.ledger.balanced());
      simulated.all_done_us += to_microseconds(result.time);
    }
    return simulated;
  }

  // On as many GPUs of the node as the line says.
  [[nodiscard]] SimulatedCase simulate_pair(const TorchPair& pair) const {
    std::vector<std::string> sets{cluster_set(),
                                  fmt::format("cluster.gpus_per_node={}", pair.gpus)};
    for (const std::string& set : options_.sets) {
      if (!set.starts_with("workload.")) sets.push_back(set);
    }
    const Loaded loaded = load_any(sets);
    if (!loaded.scenario) {
      return {.trouble = loaded.problems.to_text(), .mistake = places_of(loaded.problems)};
    }
    const Scenario& scenario = *loaded.scenario;
    Cluster cluster = build_cluster(scenario.cluster);
    cluster.own_choices.known_runs = options_.known;
    std::vector<Fusion> fusions;
    if (pair.mode != Mode::bulk) fusions = find_fusions(pair.graph, scenario.cluster.gpu);
    for (const Fusion& fusion : fusions) {
      if (fusion.obstacle.empty()) continue;
      return {.trouble = fusion.obstacle + "\n", .mistake = fusion.obstacle};
    }
    const TaskGraph tasks = lower_model(pair.graph, {.options = overlap_options(scenario),
                                                     .cluster = cluster,
                                                     .mode = pair.mode,
                                                     .fusions = fusions});
    const RunResult result = simulate_or_know(cluster, tasks, with_known(scenario.run)).result;
    if (result.ending != Ending::finished) {
      return {.trouble = result.stopped_because + "\n", .mistake = result.stopped_because};
    }
    SIM_ASSERT(result.ledger.balanced());
    SimulatedCase simulated;
    simulated.all_done_us = to_microseconds(result.time);
    simulated.clock_us = to_microseconds(scenario.cluster.gpu.launch.clock);
    return simulated;
  }

  [[nodiscard]] SimulatedCase simulate_case(const Case& one) const {
    if (one.pair) return simulate_pair(*one.pair);
    if (!one.kernels.empty()) return simulate_kernels(one.kernels);
    const Loaded loaded = load(one);
    if (!loaded.scenario) {
      return {.trouble = loaded.problems.to_text(), .mistake = places_of(loaded.problems)};
    }
    const Scenario& scenario = *loaded.scenario;
    Cluster cluster = build_cluster(scenario.cluster);
    cluster.own_choices.known_runs = options_.known;
    const RunResult result =
        simulate_or_know(cluster, lower(scenario, cluster, one.mode), with_known(scenario.run))
            .result;
    if (result.ending != Ending::finished) {
      return {.trouble = result.stopped_because + "\n", .mistake = result.stopped_because};
    }
    SIM_ASSERT(result.ledger.balanced());
    SimulatedCase simulated{.all_done_us = to_microseconds(result.time),
                            .computed_us = 0,
                            .clock_us = to_microseconds(scenario.cluster.gpu.launch.clock),
                            .trouble = "",
                            .mistake = ""};
    for (const OperatorUse& use : result.operators) {
      if (use.role != KernelRole::compute) continue;
      simulated.computed_us =
          std::max(simulated.computed_us, to_microseconds(use.last_end - SimTime{}));
    }
    return simulated;
  }

  const PredictOptions& options_;
  std::vector<fs::path> dirs_;
  std::optional<Cluster> cluster_;  // as in its file, and the file's limits of a run
  RunOptions run_;
  std::vector<Case> cases_;
  std::map<std::string, std::size_t> numbers_;
};

// A line and where its time comes from.
struct Plan {
  const MeasuredLine* line;
  std::size_t simulation;
  Until until;
};

// A mistake in a kernel's file keeps all its lines from being simulated: reported once, at the
// first.
struct Trouble {
  const MeasuredLine* first;
  std::string text;
  std::size_t lines = 0;
};

void add_problems(const std::map<std::string, Trouble>& troubles, Diagnostics& problems) {
  for (const auto& [mistake, at] : troubles) {
    const std::string more =
        at.lines > 1 ? fmt::format(", nor {} more", at.lines - 1) : std::string();
    problems.add({.at = at.first->at,
                  .path = at.first->kind,
                  .message = fmt::format("cannot be simulated{}: {}", more, at.text),
                  .source_line = ""});
  }
}

std::vector<Outcome> read_off(const std::vector<Plan>& plans,
                              const std::vector<SimulatedCase>& results, Diagnostics& problems) {
  std::vector<Outcome> outcomes;
  outcomes.reserve(plans.size());
  std::map<std::string, Trouble> troubles;
  for (const Plan& plan : plans) {
    const SimulatedCase& from = results[plan.simulation];
    if (!from.trouble.empty()) {
      const Trouble trouble{.first = plan.line, .text = from.trouble};
      troubles.try_emplace(from.mistake, trouble).first->second.lines += 1;
      continue;
    }
    const double end = plan.until == Until::computed ? from.computed_us : from.all_done_us;
    const double clock = plan.line->says("timing", "in_a_row") ? 0 : from.clock_us;
    outcomes.push_back({.line = *plan.line, .predicted_us = end + clock});
  }
  add_problems(troubles, problems);
  return outcomes;
}

}  // namespace

BaseName base_name(const fs::path& file) {
  const fs::path whole = fs::absolute(file).lexically_normal();
  const fs::path dir = whole.parent_path().parent_path();
  return {.name = (whole.parent_path().filename() / whole.stem()).generic_string(),
          .dir = file.is_relative() ? fs::proximate(dir) : dir};
}

namespace {

// What each line is read off; empty where there are problems.
std::vector<Plan> plans_of(const std::vector<MeasuredLine>& lines, Simulations& simulations,
                           Predictions& predictions) {
  const std::optional<ClusterSpec> cluster = simulations.cluster(predictions.problems);
  if (!cluster) return {};
  predictions.gpu = cluster->gpu.name;
  predictions.gpus = cluster->gpus();
  std::vector<Plan> plans;
  for (const MeasuredLine& line : lines) {
    if (!is_of_gpu(line, predictions.gpu)) {
      ++predictions.skipped["line of " + line.words.at("system")];
      continue;
    }
    if (!has_case(line.kind) || !has_its_library(cluster->gpu, line.kind)) {
      ++predictions.skipped[line.kind];
      continue;
    }
    const Case one = case_of(line, cluster->gpu, predictions.problems);
    if (const auto missing = simulations.missing_kernel(one)) {
      ++predictions.without_kernel[missing->string()];
      continue;
    }
    predictions.most_gpus = std::max(predictions.most_gpus, line.number("gpus").value_or(0));
    plans.push_back({.line = &line, .simulation = simulations.add(one), .until = one.until});
  }
  if (predictions.problems.has_errors()) plans.clear();
  return plans;
}

}  // namespace

Predictions predict(const std::vector<MeasuredLine>& lines, const PredictOptions& options) {
  Predictions predictions;
  Simulations simulations(options);
  const std::vector<Plan> plans = plans_of(lines, simulations, predictions);
  if (predictions.problems.has_errors()) return predictions;
  predictions.outcomes = read_off(plans, simulations.run(), predictions.problems);
  if (predictions.problems.has_errors()) predictions.outcomes.clear();
  return predictions;
}

std::vector<SimulatedCase> simulate_some(const std::vector<MeasuredLine>& lines,
                                         const PredictOptions& options,
                                         const std::vector<std::size_t>& which) {
  Predictions predictions;
  Simulations simulations(options);
  plans_of(lines, simulations, predictions);
  if (!predictions.problems.has_errors()) return simulations.some(which);
  const SimulatedCase wrong{.trouble = predictions.problems.to_text(),
                            .mistake = places_of(predictions.problems)};
  return std::vector<SimulatedCase>(which.size(), wrong);
}

std::vector<fs::path> inputs_of(const PredictOptions& options) {
  return Simulations(options).inputs();
}

std::vector<std::string> other_machine(const MeasuredFile& measured,
                                       const Predictions& predictions) {
  std::vector<std::string> notes;
  for (const std::string& device : measured.devices) {
    if (device.find(predictions.gpu) != std::string::npos) continue;
    notes.push_back("measured on " + device + ", simulated on " + predictions.gpu);
  }
  if (predictions.most_gpus > predictions.gpus) {
    notes.push_back("a line has " + std::to_string(predictions.most_gpus) + " GPUs, the cluster " +
                    std::to_string(predictions.gpus) +
                    ": it is simulated on one node with more of the same GPUs");
  }
  return notes;
}

std::string why_no_outcomes(const Predictions& predictions, const PredictOptions& options) {
  return predictions.without_kernel.empty()
             ? "contains no line of a kind that weft can simulate"
             : "contains no line whose kernel is in " + options.kernels.string();
}

}  // namespace weft
