#include "sim/traces/recorded_wgs.h"

#include <algorithm>

#include "sim/core/round_up.h"
#include "sim/models/op_kernel.h"
#include "sim/tasks/task_graph.h"
#include "sim/workloads/embedding.h"

namespace weft {
namespace {

RecordedShape of_wgs(std::int64_t wgs, const WgShape& wg) {
  return {.time = {},
          .wgs = std::max<std::int64_t>(wgs, 1),
          .threads = wg.threads,
          .registers_per_thread = wg.registers_per_thread,
          .lds = wg.lds};
}

}  // namespace

RecordedShape recorded_wgs(const OpShape& shape, const GpuSpec& gpu, std::uint32_t ranks) {
  if (const auto* recorded = std::get_if<RecordedShape>(&shape)) {
    RecordedShape same = *recorded;
    same.time = {};
    same.by_rank.clear();
    return same;
  }
  if (const auto* bag = std::get_if<EmbeddingShape>(&shape)) {
    const Grid grid = bag->backward ? embedding_backward_grid(bag->work, gpu, ranks, {})
                                    : embedding_grid(bag->work, gpu, ranks, {});
    return of_wgs(std::int64_t{grid.gpus} * grid.per_peer, grid.wg);
  }
  OpShape largest = shape;
  if (auto* gemm = std::get_if<GemmShape>(&largest); gemm != nullptr && !gemm->m_by_rank.empty()) {
    gemm->m = *std::max_element(gemm->m_by_rank.begin(), gemm->m_by_rank.end());
    gemm->m_by_rank.clear();
  }
  const OpKernel kernel = op_kernel(largest, gpu, 0);
  std::int64_t units = 0;  // an item of a persistent grid does the work of several WGs
  for (const OpKernel::Run& run : kernel.runs) units += std::int64_t{run.scale} * run.count;
  return of_wgs(round_up(units, std::int64_t{Item::kUnit}), kernel.wg);
}

}  // namespace weft
