// The table of the functions that build whole models.
#include "sim/models/build_model.h"

#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/models/single_operator.h"
#include "sim/models/step_work.h"

namespace weft {

// Each in a file of its own.
namespace builders {
ModelGraph dlrm(const Scenario& scenario);
ModelGraph transformer(const Scenario& scenario);
StepWork dlrm_work(const Scenario& scenario, const ModelGraph& graph);
StepWork transformer_work(const Scenario& scenario, const ModelGraph& graph);
}  // namespace builders

namespace {

struct BuilderRow {
  const ModelKind* model;
  ModelGraph (*build)(const Scenario& scenario);
  StepWork (*work)(const Scenario& scenario, const ModelGraph& graph);
};

constexpr std::array kBuilders = {
    BuilderRow{&model_kinds::dlrm, builders::dlrm, builders::dlrm_work},
    BuilderRow{&model_kinds::decoder, builders::transformer, builders::transformer_work},
};

const BuilderRow& builder_row(const ModelKind* model) {
  const auto* const row =
      std::find_if(kBuilders.begin(), kBuilders.end(),
                   [&](const BuilderRow& other) { return other.model == model; });
  SIM_ASSERT(row != kBuilders.end());
  return *row;
}

}  // namespace

ModelGraph build_model(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const ModelKind* const model = row_of(workload.kind).model;
  SIM_ASSERT(!is_trace(workload.kind));
  if (model == nullptr) return build_single(scenario);
  ModelGraph graph = builder_row(model).build(scenario);
  graph.verify();
  return graph;
}

std::optional<StepWork> work_of_step(const Scenario& scenario, const ModelGraph& graph) {
  const ModelKind* const model = row_of(scenario.workload.kind).model;
  if (model == nullptr) return std::nullopt;
  return builder_row(model).work(scenario, graph);
}

}  // namespace weft
