// Scenario text to results, and task graphs made by hand, for tests of what a run takes.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"

namespace weft {

// Throws, which fails the test, if the scenario has a mistake.
inline Scenario scenario_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  Loaded loaded = load_scenario_text(text, "test.yaml",
                                     {.sets = sets, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  if (!loaded.scenario) throw std::runtime_error(loaded.problems.to_text());
  return *loaded.scenario;
}

inline Scenario scenario_of_file(const std::string& path,
                                 const std::vector<std::string>& sets = {}) {
  Loaded loaded = load_scenario(std::string(WEFT_SOURCE_DIR) + "/configs/" + path,
                                {.sets = sets, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  if (!loaded.scenario) throw std::runtime_error(loaded.problems.to_text());
  return *loaded.scenario;
}

inline RunResult run(const Scenario& scenario, Mode mode = Mode::bulk, int partition_cus = 0) {
  const Cluster cluster = build_cluster(scenario.cluster);
  return simulate(cluster, lower(scenario, cluster, mode, partition_cus), scenario.run);
}

inline RunResult run(const Scenario& scenario, const TaskGraph& graph) {
  graph.verify();
  return simulate(build_cluster(scenario.cluster), graph, scenario.run);
}

// Two GPUs of ideal parts in one node, 50 GB/s and 500 ns between them: what a test sets with
// `sets` is all that takes time.
inline Scenario one_node(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: one node
cluster:
  name: one node
  nodes: 1
  gpus_per_node: 2
  gpu: {base: gpus/ideal, cus: 2, cu: {wgs: 2}}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)",
                     sets);
}

// Two nodes of one such GPU under a switch, 25 GB/s and 300 ns a link.
inline Scenario two_nodes(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: two nodes
cluster:
  name: two nodes
  nodes: 2
  gpus_per_node: 1
  gpu: {base: gpus/ideal, cus: 2, cu: {wgs: 2}}
  scale_out: {shape: switch, link: {bandwidth: 25 GB/s, latency: 300 ns}}
  nic: {base: nics/ideal, bandwidth: 25 GB/s}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)",
                     sets);
}

// A task graph written down kernel by kernel.
struct HandMade {
  TaskGraph graph;

  HandMade() { graph.operators.push_back({.name = "by_hand", .role = KernelRole::compute}); }

  // Work that takes a time and shares nothing.
  std::uint32_t takes(Duration time) {
    Work work;
    work.fixed = time;
    return add(work);
  }
  std::uint32_t add(const Work& work) {
    graph.works.push_back(work);
    return static_cast<std::uint32_t>(graph.works.size() - 1);
  }

  // A latch that one item opens, which sends `send`.
  LatchId sends(const Send& send) {
    const LatchId latch = graph.add_latch(1);
    graph.add_send(send);
    return latch;
  }

  static Item item(std::uint32_t work, LatchId counts_down = LatchId::none(),
                   LatchId waits_for = LatchId::none()) {
    return {.counts_down = counts_down,
            .waits_for = waits_for,
            .work = work & 0xFFU,
            .scale = Item::kUnit};
  }

  KernelId kernel(Kernel kernel, const std::vector<Item>& items,
                  const std::vector<KernelId>& after = {}) {
    for (const Item& item : items) graph.items.add(item);
    return graph.add_kernel(kernel, after);
  }
};

// A kernel of `gpu` whose WGs are all its items.
inline Kernel plain(std::uint32_t gpu) { return {.gpu = GpuId(gpu), .op = OperatorId(0)}; }

// A kernel whose grid of at most `grid` WGs takes the items.
inline Kernel persistent(std::uint32_t gpu, std::uint32_t grid,
                         WorkList list = WorkList::dynamic_list) {
  Kernel kernel = plain(gpu);
  kernel.persistent = true;
  kernel.max_grid = grid;
  kernel.work_list = list;
  return kernel;
}

}  // namespace weft
