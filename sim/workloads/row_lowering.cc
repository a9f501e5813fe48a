#include "sim/workloads/row_lowering.h"

#include <algorithm>

namespace weft {
namespace {

// A wave moves a row. [P] DeepEP: 32 of them on a CU, a row's loads at once.
constexpr int kWavesOnCu = 32;
constexpr int kRegistersOfRows = 64;
constexpr int kLoadsInFlight = 8;

WgShape wave_of(const GpuSpec& gpu) {
  return {.threads = gpu.wave_size,
          .registers_per_thread = kRegistersOfRows,
          .lds = bytes(0),
          .loads_in_flight = kLoadsInFlight};
}

OverlapOptions of_its_own(OverlapOptions options) {
  options.fused = {};
  return options;
}

Grid grid_of(const RowExchange& exchange) {
  Grid grid;
  grid.gpus = static_cast<std::uint32_t>(exchange.gpus.size());
  grid.wg = wave_of(exchange.cluster.spec.gpu);
  grid.result_bytes = exchange.row.count();
  return grid;
}

}  // namespace

RowLowering::RowLowering(TaskGraph& graph, const RowExchange& exchange)
    : graph_(graph),
      exchange_(exchange),
      options_(of_its_own(exchange.options)),
      grid_(grid_of(exchange)),
      sends_(options_, exchange.cluster, grid_),
      ranks_(grid_.gpus) {}

Kernel RowLowering::begin(std::uint32_t rank, CuRange cus, int waves) const {
  Kernel kernel = sends_.kernel(GpuId(gpu(rank)), exchange_.op, FusedSends::Wgs::all);
  kernel.role = KernelRole::collective;
  kernel.work_list = WorkList::static_list;
  kernel.cus = cus;
  const int most = waves > 0 ? std::min(waves, kWavesOnCu) : kWavesOnCu;
  const int on_cu = std::min(most, resident(spec(), grid_.wg, {}));
  kernel.max_grid = static_cast<std::uint32_t>(on_cu * cus_in(kernel.cus, spec().cus));
  return kernel;
}

KernelId RowLowering::end(std::uint32_t rank, Kernel kernel, std::uint32_t first,
                          std::uint32_t of_a_rank) {
  kernel.team_first = first;
  kernel.team_size = of_a_rank * ranks_;
  return graph_.add_kernel(kernel, exchange_.after[rank]);
}

void RowLowering::push(const Work& work, LatchId counts_down, LatchId waits_for,
                       std::uint32_t scale) {
  graph_.items.add({.counts_down = counts_down,
                    .waits_for = waits_for,
                    .work = graph_.add_work(work) & 0xFFU,
                    .scale = scale & 0xFFFFFFU});
}

}  // namespace weft
