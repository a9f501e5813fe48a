#include "sim/models/waiting_kernel.h"

#include <algorithm>
#include <utility>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"

namespace weft {

// As the library would receive it: from the GPU beside, or from the first of the next node.
Kernel WaitingKernels::receiver_of(const PostedReceive& receive) const {
  const Cluster& cluster = how_.whole != nullptr ? *how_.whole : how_.cluster;
  const auto per_node = static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
  const std::uint32_t apart = receive.between_nodes || per_node == 1 ? per_node : 1;
  SIM_ASSERT(apart < cluster.gpus());
  TaskGraph alone;
  CollectiveCall call;
  call.op = CollectiveOp::point_to_point;
  call.buffer = receive.size;
  call.options = how_.options.collective;
  call.operator_id = alone.operators.push_back({.name = "receive", .role = KernelRole::collective});
  call.ranks = {0, apart};
  return alone.kernels[add_collective(alone, cluster, call).back()];
}

void WaitingKernels::add(GpuId gpu, OperatorId op, const PostedReceive& receive, Duration launch,
                         LatchId latch, const std::vector<KernelId>& after) {
  const auto [known, added] =
      known_.try_emplace(std::pair(receive.size.count(), receive.between_nodes));
  if (added) known->second = receiver_of(receive);
  const Kernel& receiver = known->second;
  if (receiver.executor == Executor::dma) return;  // copy engines wait without CUs
  Kernel waits{.gpu = gpu, .op = op, .role = KernelRole::collective};
  waits.persistent = true;
  waits.work_list = WorkList::static_list;
  waits.wg = receiver.wg;
  waits.max_grid = std::min(receiver.max_grid, receiver.items);
  waits.cus = receiver.cus;
  waits.priority = receiver.priority;
  waits.launch = launch - std::min(launch, picoseconds(1));
  waits.finish = latch;
  const std::uint32_t nothing = tasks_.add_work({});
  tasks_.items.add({.work = nothing & 0xFFU, .scale = Item::kUnit}, waits.max_grid);
  tasks_.add_kernel(waits, after);
}

}  // namespace weft
