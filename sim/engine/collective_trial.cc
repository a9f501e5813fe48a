#include "sim/collectives/collective_trial.h"

#include "sim/engine/known_runs.h"
#include "sim/engine/simulate.h"

namespace weft {
namespace {

RunKey key_of_choice(const Cluster& machine, const Memo::Key& key) {
  Digest digest;
  digest.add_all(machine, key);
  return digest.value();
}

}  // namespace

std::optional<Duration> trial_time(const Cluster& cluster, const TaskGraph& graph,
                                   Duration at_most) {
  RunOptions options;
  options.max_events = INT64_MAX;
  options.max_time = at_most;
  const RunResult result = simulate(cluster, graph, options);
  if (result.ending != Ending::finished) return std::nullopt;
  return result.time;
}

std::optional<int> known_choice(const KnownRuns& known, const Cluster& machine,
                                const Memo::Key& key) {
  const auto found = known.find_choice(key_of_choice(machine, key));
  return found ? std::optional(found->choice) : std::nullopt;
}

void keep_choice(KnownRuns& known, const Cluster& machine, const Memo::Key& key, int choice) {
  known.put_choice(key_of_choice(machine, key), {choice});
}

}  // namespace weft
