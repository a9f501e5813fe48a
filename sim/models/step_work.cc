#include "sim/models/step_work.h"

namespace weft {
namespace {

bool multiplies(const ModelOp& op) {
  return std::holds_alternative<GemmShape>(op.shape) ||
         std::holds_alternative<AttentionShape>(op.shape);
}

double flops_in_group(const GemmShape& uneven) {
  double sum = 0;
  GemmShape own = uneven;
  own.m_by_rank.clear();
  for (const std::int64_t m : uneven.m_by_rank) {
    own.m = m;
    sum += static_cast<double>(flops_of(own).count());
  }
  return sum;
}

double flops_of_all(const ModelOp& op, const Groups& place) {
  const auto* gemm = std::get_if<GemmShape>(&op.shape);
  if (gemm != nullptr && !gemm->m_by_rank.empty()) {
    return flops_in_group(*gemm) * static_cast<double>(place.groups.size());
  }
  return static_cast<double>(flops_of(op.shape).count()) * static_cast<double>(gpus_in(place));
}

}  // namespace

double product_flops(const ModelGraph& graph) {
  double sum = 0;
  for (const ModelOp& op : graph.ops) {
    if (multiplies(op)) sum += flops_of_all(op, graph.places[op.place]);
  }
  return sum;
}

}  // namespace weft
