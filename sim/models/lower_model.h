// Lowers a model to a task graph: operators become kernels of work-groups on their GPUs' streams.
#pragma once

#include <optional>
#include <vector>

#include "sim/models/fusions.h"
#include "sim/models/pair_rules.h"
#include "sim/workloads/c3.h"

namespace weft {

// An operator that does not begin before so long after the start of its graph's run.
struct Release {
  OpId op;
  Duration after;
  auto operator<=>(const Release&) const = default;
};

struct ModelLowering {
  OverlapOptions options;
  const Cluster& cluster;
  Mode mode = Mode::bulk;
  // From find_fusions(), those without obstacle: lowered as `mode` says. Everything else runs
  // kernel after kernel on its streams.
  std::vector<Fusion> fusions = {};
  // By fusion, each its own; empty: all as `mode` and `options` say. Those of mode bulk run kernel
  // after kernel as the rest does, with the tile and the collective of their way.
  std::vector<PairWay> ways = {};
  std::vector<OpId> exits = {};        // operators whose ends the result is to report
  std::vector<Release> releases = {};  // in ascending order of operators
  // If the graph is a GEMM whose kernel is described and a collective, independent of each other:
  // which of them gets which CUs when.
  std::optional<C3Strategy> strategy = {};
  const Cluster* whole = nullptr;  // that `cluster` is a part of; null: it is all
};

TaskGraph lower_model(const ModelGraph& graph, const ModelLowering& how);

}  // namespace weft
