// The table of the functions that build whole models.
#include "sim/models/build_model.h"

#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/models/dlrm.h"
#include "sim/models/single_operator.h"
#include "sim/models/transformer.h"

namespace weft {
namespace {

struct BuilderRow {
  const ModelKind* model;
  ModelGraph (*build)(const Workload& workload, int gpus);
};

constexpr std::array kBuilders = {
    BuilderRow{&model_kinds::dlrm, build_dlrm},
    BuilderRow{&model_kinds::decoder, build_transformer},
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
  ModelGraph graph = row->build(workload, scenario.cluster.gpus());
  graph.verify();
  return graph;
}

}  // namespace weft
