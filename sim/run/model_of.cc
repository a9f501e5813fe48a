#include "sim/run/model_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/models/build_model.h"
#include "sim/scenario/names.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/peak_shares.h"

namespace weft {
namespace {

// An algorithm that none of the model's collectives has would change nothing without a word.
void check_algorithm(const Scenario& scenario, Model& model) {
  const AskedAlgorithm& asked = scenario.collective.algorithm;
  if (!(asked.named || asked.of_engine) || !model.graph || !is_model(scenario.workload.kind))
    return;
  std::set<std::string_view> others;
  for (const ModelOp& op : model.graph->ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr) continue;
    const bool reduced = call->op == CollectiveOp::all_reduce;
    if (asked.of_engine ? reduced : exists(call->op, *asked.named)) return;
    others.insert(names::word(names::kCollectiveOps, call->op));
  }
  if (others.empty()) return;  // nothing travels, whoever carries it
  Diagnostic problem;
  problem.at.file = scenario.name;
  problem.path = "collective.algorithm";
  problem.message = fmt::format(
      "'{}' does not exist for this model's collectives ({}); the library's choice is used for "
      "them",
      names::word(names::kAlgorithmChoices, asked), fmt::join(others, ", "));
  problem.severity = Severity::warning;
  model.problems.add(std::move(problem));
}

}  // namespace

Model model_of(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  if (is_trace(workload.kind)) {
    LoadedTrace loaded =
        load_trace(workload.trace, scenario.cluster.gpus(), scenario.run.max_memory);
    Model model{.graph = std::move(loaded.graph),
                .problems = std::move(loaded.problems),
                .trace = to_text(loaded.summary),
                .inputs = std::move(loaded.inputs)};
    if (model.graph) model.trace += peak_shares_text(*model.graph, scenario.cluster.gpu);
    check_algorithm(scenario, model);
    return model;
  }
  Model model;
  model.graph = build_model(scenario);
  check_algorithm(scenario, model);
  return model;
}

}  // namespace weft
