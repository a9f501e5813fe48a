#include "sim/engine/run_key.h"

#include "sim/scenario/load.h"

namespace weft {

// Structured bindings do not compile where a member is missing. Not in a namespace without a name:
// Digest would not find them.
void add(Digest& digest, const Work& work) {
  const auto& [traffic, written_more, memory_alone, flops, arithmetic_alone, arithmetic_share,
               fixed, shares, fenced] = work;
  digest.add_all(traffic, written_more, memory_alone, flops, arithmetic_alone, arithmetic_share,
                 fixed, shares, fenced);
}

void add(Digest& digest, const Kernel& kernel) {
  const auto& [gpu, op, role, executor, persistent, fenced, waves_fence, work_list, puts_by,
               handover, first_run, items, runs, first_work, store_rate, flag, finish, ended,
               first_end, max_grid, launch, startup, wg, cus, priority, first_dependency,
               dependencies, team_first, team_size, release] = kernel;
  const auto& [waves, registers, lds, slots] = wg;
  const auto& [first_cu, number_of_cus] = cus;
  digest.add_all(gpu, op, role, executor, persistent, fenced, waves_fence, work_list, puts_by,
                 handover, first_run, items, runs, first_work, store_rate, flag, finish, ended,
                 first_end, max_grid, launch, startup, waves, registers, lds, slots, first_cu,
                 number_of_cus, priority, first_dependency, dependencies, team_first, team_size,
                 release);
}

void add(Digest& digest, const Operator& op) {
  const auto& [name, role, part, law] = op;
  digest.add_all(name, part, role, law);
}

void add(Digest& digest, const TaskGraph& graph) {
  digest.add_all(graph.works, graph.operators, graph.kernels);
  digest.add_plain(graph.dependencies);
  digest.add_plain(graph.items.runs());
  digest.add_plain(graph.items.ends());
  digest.add_plain(graph.latches.first_sends());
  digest.add_plain(graph.latches.small_targets());
  digest.add_plain(graph.latches.large_targets());
  digest.add_plain(graph.sends.all_stored());
  digest.add_plain(graph.sends.kinds());
  digest.add_all(graph.groups, graph.exits);
}

void add(Digest& digest, const Cluster& cluster) {
  digest.add_all(to_text(cluster.spec), cluster.whole != nullptr);
  if (cluster.whole != nullptr) {
    const auto& [all, kept, gpus_per_node] = cluster.representatives;
    digest.add_all(all, kept, gpus_per_node, *cluster.whole);
  }
  // Its own limit of power may be written in fewer digits than the clock has.
  if (cluster.gpu_of_choices == nullptr) return;
  ClusterSpec choices = cluster.spec;
  choices.gpu = *cluster.gpu_of_choices;
  digest.add_all(to_text(choices));
}

void add_limits(Digest& digest, const RunOptions& options) {
  digest.add_all(options.max_events, options.max_time, options.tie_shuffle);
}

RunKey key_of(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options) {
  Digest digest;
  digest.add_all(cluster, graph);
  add_limits(digest, options);
  return digest.value();
}

}  // namespace weft
