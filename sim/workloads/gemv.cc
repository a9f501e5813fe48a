#include "sim/workloads/gemv.h"

#include <algorithm>

#include "sim/core/round_up.h"

namespace weft {
namespace {

constexpr std::int64_t kResultBytes = 4;  // per element of y

Work gemv_work(const GemvWork& gemv, const GpuSpec& gpu, int wgs_on_cu, bool writes_result) {
  const std::int64_t row_bytes = gemv.k * size_of(gemv.dtype).count();
  const std::int64_t waves = gemv.wg.threads / gpu.wave_size;
  const std::int64_t rounds = round_up(gemv.rows_per_wg, waves);
  const std::int64_t in_flight = std::int64_t{gpu.wave_size} * kLoadBytes * gemv.wg.loads_in_flight;
  const std::int64_t steps = round_up(row_bytes, in_flight);
  Work work;
  if (!gemv.weights_in_l2) work.traffic = bytes(gemv.rows_per_wg * row_bytes);
  if (writes_result) work.traffic += bytes(gemv.rows_per_wg * kResultBytes);
  const Duration latency =
      gemv.weights_in_l2 ? gpu.l2.latency : stream_latency(gpu, gemv.wg.loads_in_flight);
  const Duration step = latency + gemv.load_sums * gemv.wg.loads_in_flight;
  work.memory_alone = longer((step * steps + gpu.wave_sum) * rounds,
                             transfer_time(work.traffic, gpu.memory.bandwidth));
  if (gemv.weights_in_l2) {
    work.memory_alone =
        shared_l2_time(gpu, work.memory_alone, gemv.rows_per_wg * row_bytes,
                       gemv.m / gemv.rows_per_wg, std::int64_t{wgs_on_cu} * gpu.cus);
  }
  work.flops = flops(2 * gemv.rows_per_wg * gemv.k);
  work.arithmetic_share = share_of_cu(gpu, gemv.wg.threads);
  work.arithmetic_alone = arithmetic_time(work.flops, gpu.fp32_vector, gpu, work.arithmetic_share);
  if (work.arithmetic_alone * wgs_on_cu <= work.memory_alone) work.arithmetic_alone = Duration{};
  return work;
}

}  // namespace

Grid gemv_grid(const GemvWork& gemv, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version) {
  const int on_cu = resident(gpu, gemv.wg, version);
  Grid grid;
  grid.name = "gemv";
  grid.gpus = gpus;
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
