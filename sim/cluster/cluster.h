// Cluster: the machine of a scenario, ready for lowering and simulation. Built once from checked
// values; nothing in it changes while a simulation runs.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/memo.h"
#include "sim/core/ids.h"
#include "sim/core/shared_server.h"
#include "sim/network/representatives.h"
#include "sim/network/transport.h"
#include "sim/scenario/scenario.h"

namespace weft {

using GpuId = StrongId<struct GpuTag>;

struct Cluster {
  ClusterSpec spec;
  NetworkSpec network;
  Bend memory_bend;      // of every GPU's HBM
  Bend arithmetic_bend;  // of every CU's arithmetic: a sharp corner

  [[nodiscard]] std::uint32_t gpus() const { return static_cast<std::uint32_t>(spec.gpus()); }
  [[nodiscard]] std::uint32_t node_of(GpuId gpu) const {
    return gpu.value / static_cast<std::uint32_t>(spec.gpus_per_node);
  }
  // Whether the node has no straggler and no degraded link between its GPUs.
  [[nodiscard]] bool is_sound(std::uint32_t node) const {
    return node >= unsound.size() || !unsound[node];
  }
  std::vector<bool> unsound;  // by node; empty where all are sound
  // How collectives are run (sim/collectives/collective_choice.h). A cluster of one node alone may
  // use the memo of the cluster that the node belongs to, which has to outlive it: what is fastest
  // in one sound node is fastest in all.
  [[nodiscard]] Memo& choices() const { return choices_of == nullptr ? own_choices : *choices_of; }
  mutable Memo own_choices{};
  Memo* choices_of = nullptr;
  // At a lower clock: the GPU at its full one, with which collectives are tried, so that what is
  // chosen does not depend on which clock asks first. Has to outlive it; null: its own.
  const GpuSpec* gpu_of_choices = nullptr;

  // If its nodes stand for those of a larger cluster: that one, which has to outlive it, and which
  // for which.
  const Cluster* whole = nullptr;
  Representatives representatives{};
};

Cluster build_cluster(const ClusterSpec& spec);

// One line: "128 nodes x 1 MI210   16x8 torus, 200 Gb/s".
std::string one_line(const Cluster& cluster);

// What --stop-after=cluster prints: GPUs, fabrics, link classes with counts and rates, residency.
std::string to_text(const Cluster& cluster);

}  // namespace weft
