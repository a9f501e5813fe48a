#include "sim/workloads/gemv.h"

#include <algorithm>

namespace weft {
namespace {

constexpr std::int64_t kLoadBytes = 16;   // one load of one thread
constexpr std::int64_t kResultBytes = 4;  // of an element of y

std::int64_t round_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

Work gemv_work(const GemvWork& gemv, const GpuSpec& gpu, int wgs_on_cu, bool writes_result) {
  const std::int64_t row_bytes = gemv.k * size_of(gemv.dtype).count();
  const std::int64_t waves = gemv.wg.threads / gpu.wave_size;
  const std::int64_t rounds = round_up(gemv.rows_per_wg, waves);
  const std::int64_t in_flight = std::int64_t{gpu.wave_size} * kLoadBytes * gemv.wg.loads_in_flight;
  const std::int64_t steps = round_up(row_bytes, in_flight);
  Work work;
  if (!gemv.weights_in_l2) work.traffic = bytes(gemv.rows_per_wg * row_bytes);
  if (writes_result) work.traffic += bytes(gemv.rows_per_wg * kResultBytes);
  const Duration latency = gemv.weights_in_l2 ? gpu.l2.latency : gpu.memory.latency;
  work.memory_alone = longer((latency * steps + gpu.wave_sum) * rounds,
                             transfer_time(work.traffic, gpu.memory.bandwidth));
  work.flops = flops(2 * gemv.rows_per_wg * gemv.k);
  work.arithmetic_share = share_of_cu(gpu, gemv.wg.threads);
  work.arithmetic_alone = arithmetic_time(work.flops, gpu.fp32_vector, gpu, work.arithmetic_share);
  if (work.arithmetic_alone * wgs_on_cu <= work.memory_alone) work.arithmetic_alone = Duration{};
  return work;
}

}  // namespace

Grid gemv_grid(const Scenario& scenario, const Cluster& cluster, int extra_registers) {
  const GemvWork& gemv = scenario.workload.gemv;
  const GpuSpec& gpu = cluster.spec.gpu;
  const int on_cu = resident(gpu, gemv.wg, extra_registers);
  Grid grid;
  grid.name = "gemv";
  grid.gpus = cluster.gpus();
  grid.per_peer = static_cast<std::uint32_t>(gemv.m / gemv.rows_per_wg / grid.gpus);
  grid.in_a_row = grid.per_peer;
  grid.result_bytes = gemv.rows_per_wg * kResultBytes;
  grid.wg = gemv.wg;
  grid.written = gemv_work(gemv, gpu, on_cu, true);
  grid.stored = gemv_work(gemv, gpu, on_cu, false);
  grid.jitter = gemv.jitter;
  grid.stream = "gemv/jitter";
  return grid;
}

}  // namespace weft
