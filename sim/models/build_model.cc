// The table of the functions that build whole models.
#include "sim/models/build_model.h"

#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/models/single_operator.h"

namespace weft {

// Each in a file of its own.
namespace builders {
ModelGraph dlrm(const Scenario& scenario);
ModelGraph transformer(const Scenario& scenario);
}  // namespace builders

namespace {

struct BuilderRow {
  const ModelKind* model;
  ModelGraph (*build)(const Scenario& scenario);
};

constexpr std::array kBuilders = {
    BuilderRow{&model_kinds::dlrm, builders::dlrm},
    BuilderRow{&model_kinds::decoder, builders::transformer},
};

}  // namespace

ModelGraph build_model(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const ModelKind* const model = row_of(workload.kind).model;
  SIM_ASSERT(!is_trace(workload.kind));
  if (model == nullptr) return build_single(scenario);
  const auto* const row =
      std::find_if(kBuilders.begin(), kBuilders.end(),
                   [&](const BuilderRow& other) { return other.model == model; });
  SIM_ASSERT(row != kBuilders.end());
  ModelGraph graph = row->build(scenario);
  graph.verify();
  return graph;
}

}  // namespace weft
