#include "sim/run/model_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/models/build_model.h"
#include "sim/models/collective_rules.h"
#include "sim/models/join_ranks.h"
#include "sim/models/replicas.h"
#include "sim/scenario/names.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/peak_shares.h"
#include "sim/traces/recorded_device.h"

namespace weft {
namespace {

// The algorithm asked for is used where it exists; where it does not, that is said.
void check_algorithm(const Scenario& scenario, Model& model) {
  const AskedAlgorithm& asked = scenario.collective.algorithm;
  if (!(asked.named || asked.of_engine) || !model.graph || !is_model(scenario.workload.kind))
    return;
  std::set<std::string_view> others;
  for (const ModelOp& op : model.graph->ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr) continue;
    const bool reduced = call->op == CollectiveOp::all_reduce;
    if (asked.of_engine && reduced) return;  // the rest is the library's, as engines have it
    if (!asked.of_engine && exists(call->op, *asked.named)) continue;
    others.insert(names::word(names::kCollectiveOps, call->op));
  }
  if (others.empty()) return;
  Diagnostic problem;
  problem.at.file = scenario.name;
  problem.path = "collective.algorithm";
  problem.message = fmt::format(
      "'{}' does not exist for some collectives of this model ({}); the library's choice is used "
      "for them",
      names::word(names::kAlgorithmChoices, asked), fmt::join(others, ", "));
  problem.severity = Severity::warning;
  model.problems.add(std::move(problem));
}

void warn_of_device(const Scenario& scenario, const LoadedTrace& loaded, Model& model) {
  const RecordedDevice& device = loaded.summary.device;
  const std::optional<GpuSpec>& said = scenario.workload.trace.recorded_on;
  const GpuSpec& gpu = said ? *said : scenario.cluster.gpu;
  if (device.name.empty() || may_be(device, gpu)) return;
  Diagnostic problem;
  problem.at.file = scenario.name;
  problem.path = "workload.recorded_on";
  problem.message = fmt::format("the trace says that it was recorded on {}, not on {} with {} CUs",
                                text_of(device), gpu.name, gpu.cus);
  if (!said) {
    problem.message +=
        "; its kernels keep their times. With recorded_on: {base: gpus/NAME} they are scaled to "
        "the cluster's GPU";
  }
  problem.severity = Severity::warning;
  model.problems.add(std::move(problem));
}

void add_problem(const Scenario& scenario, Severity severity, std::string message, Model& model) {
  Diagnostic problem;
  problem.at.file = scenario.name;
  problem.path = "workload.copies";
  problem.message = std::move(message);
  problem.severity = severity;
  model.problems.add(std::move(problem));
}

// What is wrong with the path as a whole is said where the scenario names it.
Diagnostics told_at_path(const Diagnostics& problems, const Scenario& scenario) {
  Diagnostics told;
  for (Diagnostic problem : problems.all()) {
    if (problem.at.file == scenario.workload.trace.path && problem.at.line == 0 &&
        problem.path.empty()) {
      problem.message = problem.at.file + ": " + problem.message;
      problem.at.file = scenario.name;
      problem.path = "workload.path";
    }
    told.add(std::move(problem));
  }
  return told;
}

// The GPUs of the trace, of whose replicas the cluster has `copies`. 0 after a problem.
int recorded_gpus(const Scenario& scenario, Model& model) {
  const TraceWork& trace = scenario.workload.trace;
  const int gpus = scenario.cluster.gpus();
  if (gpus % trace.copies == 0) return gpus / trace.copies * trace.recorded_copies;
  add_problem(
      scenario, Severity::error,
      fmt::format("the cluster's {} GPUs do not divide among {} copies; it needs so many of them "
                  "for each copy",
                  gpus, trace.copies),
      model);
  return 0;
}

void copy_if_asked(const Scenario& scenario, int recorded, Model& model) {
  const TraceWork& trace = scenario.workload.trace;
  if (trace.copies == trace.recorded_copies) return;
  ReplicatedGraph copied = replicate(join_ranks(*model.graph), static_cast<std::uint32_t>(recorded),
                                     static_cast<std::uint32_t>(trace.recorded_copies),
                                     static_cast<std::uint32_t>(trace.copies));
  for (std::string& problem : copied.problems) {
    add_problem(scenario, Severity::error, std::move(problem), model);
  }
  model.graph = std::move(copied.graph);
  model.step.reset();
  if (!model.graph) return;
  model.trace += fmt::format(
      "  copies: {} in place of {} recorded; {} collectives are across them, with buffers as "
      "recorded. Kernels keep their times, also those whose work a larger group would divide "
      "(a sharded optimizer)\n",
      trace.copies, trace.recorded_copies, copied.grown);
  if (copied.grown > 0) return;
  add_problem(scenario, Severity::warning,
              "nothing is exchanged between the copies, because the trace has no collective across "
              "replicas: right for inference, but training sums gradients; record two replicas",
              model);
}

void move_if_asked(const Scenario& scenario, Model& model) {
  const std::optional<GpuSpec>& there = scenario.workload.trace.recorded_on;
  const GpuSpec& here = scenario.cluster.gpu;
  model.trace += peak_shares_text(*model.graph, there ? *there : here);
  if (!there) return;
  model.moved = move_recorded(*model.graph, scenario, *there);
  model.trace += moved_text(model.moved, there->name, here.name);
  model.step.reset();
  model.device = {};
  if (!model.moved.empty()) return;
  Diagnostic problem;
  problem.at.file = scenario.name;
  problem.path = "workload.recorded_on";
  problem.message = "no effect: the trace has no kernels with recorded times";
  problem.severity = Severity::warning;
  model.problems.add(std::move(problem));
}

}  // namespace

Model model_of(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  if (is_trace(workload.kind)) {
    Model refused;
    const int recorded = recorded_gpus(scenario, refused);
    if (recorded == 0) return refused;
    LoadedTrace loaded = load_trace(workload.trace, recorded, scenario.run.max_memory);
    Model model{.graph = std::move(loaded.graph),
                .problems = told_at_path(loaded.problems, scenario),
                .trace = to_text(loaded.summary),
                .inputs = std::move(loaded.inputs),
                .step = loaded.summary.step,
                .device = loaded.summary.device};
    if (model.graph) {
      warn_of_device(scenario, loaded, model);
      move_if_asked(scenario, model);
      copy_if_asked(scenario, recorded, model);
      set_own_options(*model.graph, workload.collectives, scenario.collective);
    }
    check_algorithm(scenario, model);
    return model;
  }
  Model model;
  model.graph = build_model(scenario);
  set_own_options(*model.graph, workload.collectives, scenario.collective);
  check_algorithm(scenario, model);
  return model;
}

}  // namespace weft
