// How long a call takes by itself, and what such trials have found before: all that lowering asks
// of the engine, which implements it in sim/engine/collective_trial.cc.
#pragma once

#include <optional>

#include "sim/tasks/task_graph.h"

namespace weft {

// Nothing where it takes longer than `at_most`.
std::optional<Duration> trial_time(const Cluster& cluster, const TaskGraph& graph,
                                   Duration at_most);

// What trials on such a machine have chosen for the call that the key says, by any run that shares
// `known`; and what these have chosen, for other runs.
std::optional<int> known_choice(const KnownRuns& known, const Cluster& machine,
                                const Memo::Key& key);
void keep_choice(KnownRuns& known, const Cluster& machine, const Memo::Key& key, int choice);

}  // namespace weft
