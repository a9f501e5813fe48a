#include "sim/collectives/collective_trial.h"

#include "sim/engine/simulate.h"

namespace weft {

std::optional<Duration> trial_time(const Cluster& cluster, const TaskGraph& graph,
                                   Duration at_most) {
  RunOptions options;
  options.max_events = INT64_MAX;
  options.max_time = at_most;
  const RunResult result = simulate(cluster, graph, options);
  if (result.ending != Ending::finished) return std::nullopt;
  return result.time;
}

}  // namespace weft
