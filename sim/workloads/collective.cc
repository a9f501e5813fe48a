#include "sim/workloads/collective.h"

#include "sim/core/assert.h"
#include "sim/workloads/all_to_all.h"

namespace weft {

const char* name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_to_all:
      return "all_to_all";
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::broadcast:
      return "broadcast";
    case CollectiveOp::point_to_point:
      return "point_to_point";
  }
  SIM_ASSERT(false);
}

std::vector<KernelId> add_collective(TaskGraph& graph, const Cluster& cluster,
                                     const CollectiveCall& call) {
  SIM_ASSERT(call.op == CollectiveOp::all_to_all);
  return add_all_to_all(graph, cluster,
                        {.bytes_per_pair = bytes(call.buffer.count() / cluster.gpus()),
                         .executor = call.options.executor,
                         .op = call.operator_id,
                         .launch = call.launch,
                         .after = call.after,
                         .cus = call.cus,
                         .priority = call.priority,
                         .channels = call.options.channels});
}

}  // namespace weft
