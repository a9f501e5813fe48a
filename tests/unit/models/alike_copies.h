// Runs of models of which some copies stand for all.
#pragma once

#include <optional>

#include "sim/models/alike_copies.h"
#include "sim/models/build_model.h"
#include "sim/models/run_model.h"

namespace weft::alike_copies_testing {

// A scenario and the copies of its model that stand for all, if any do.
struct Alike {
  explicit Alike(const Scenario& of)
      : scenario(of),
        whole(build_cluster(of.cluster)),
        some(alike_copies(of, whole, build_model(of))) {}
  Alike(const Alike&) = delete;  // `some` points to `whole`
  Alike& operator=(const Alike&) = delete;

  [[nodiscard]] RunResult run(Mode mode) const {
    return of_all_copies(ModelRun(scenario, some->cluster, some->graph).run(mode, {}),
                         some->cluster);
  }

  const Scenario& scenario;
  Cluster whole;
  std::optional<AlikeCopies> some;
};

inline RunResult by_all_copies(const Scenario& scenario, Mode mode) {
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  return ModelRun(scenario, cluster, graph).run(mode, {});
}

}  // namespace weft::alike_copies_testing
