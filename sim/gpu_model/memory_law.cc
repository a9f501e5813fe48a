#include "sim/gpu_model/memory_law.h"

#include <algorithm>
#include <cmath>

#include "sim/core/round_up.h"
#include "sim/core/shared_server.h"

namespace weft {
namespace {

constexpr double kPicoseconds = 1e12;

// `at_once` WGs that share the L2, each of which takes `alone_ps` picoseconds alone.
double sharing_l2(const GpuSpec& gpu, double alone_ps, double bytes_of_a_wg, double at_once) {
  const double share_of_one =
      bytes_of_a_wg / static_cast<double>(gpu.l2.bandwidth.count()) * kPicoseconds;
  return bent(alone_ps, share_of_one * at_once, gpu.memory.bend);
}

// What each WG reads; that of the WG with the most where they do not divide evenly.
std::int64_t read_by_a_wg(const StreamKernel& kernel) { return round_up(kernel.read, kernel.wgs); }

}  // namespace

std::int64_t bytes_in_flight(const WgShape& wg) {
  return std::int64_t{wg.threads} * wg.loads_in_flight * kLoadBytes;
}

Duration stream_latency(const GpuSpec& gpu, int loads_in_flight) {
  const double more = static_cast<double>(gpu.memory.doubling.count()) * std::log2(loads_in_flight);
  return gpu.memory.latency + picoseconds(std::llround(more));
}

std::int64_t waits_for(std::int64_t loaded, const WgShape& wg) {
  return round_up(loaded, bytes_in_flight(wg));
}

Bytes surcharge_of_writes(const MemorySpec& memory, std::int64_t written) {
  return bytes(std::llround(static_cast<double>(written) * (memory.write_cost - 1)));
}

Bytes kept_on_a_die(const L2Spec& l2) {
  return bytes(l2.capacity.count() / std::max(1, l2.dies) / l2.copies);
}

Duration shared_l2_time(const GpuSpec& gpu, Duration alone, std::int64_t bytes_of_a_wg,
                        std::int64_t wgs, std::int64_t slots) {
  if (gpu.l2.bandwidth.count() == 0) return alone;
  const auto together = [&](std::int64_t at_once) {
    return sharing_l2(gpu, static_cast<double>(alone.count()), static_cast<double>(bytes_of_a_wg),
                      static_cast<double>(at_once));
  };
  const std::int64_t full = wgs / slots;
  const std::int64_t rest = wgs % slots;
  double rounds = static_cast<double>(full) * together(slots);
  if (rest > 0) rounds += together(rest);
  return picoseconds(std::llround(rounds / static_cast<double>(round_up(wgs, slots))));
}

double asked_rate(double bytes, Duration alone) {
  return bytes / (static_cast<double>(alone.count()) * 1e-12);
}

double memory_demand(const GpuSpec& gpu, double bytes, Duration alone) {
  return asked_rate(bytes, alone) / static_cast<double>(gpu.memory.bandwidth.count());
}

double stream_seconds(const GpuSpec& gpu, const StreamKernel& kernel) {
  const auto waits = static_cast<double>(waits_for(read_by_a_wg(kernel), kernel.wg));
  const double alone = to_seconds(stream_latency(gpu, kernel.wg.loads_in_flight)) * waits;
  const Bytes more = surcharge_of_writes(gpu.memory, kernel.written);
  const double all = static_cast<double>(kernel.read) + static_cast<double>(kernel.written) +
                     static_cast<double>(more.count());
  return bent(alone, transfer_seconds(all, gpu.memory.bandwidth), gpu.memory.bend);
}

double l2_stream_seconds(const GpuSpec& gpu, const StreamKernel& kernel) {
  const std::int64_t of_a_wg = read_by_a_wg(kernel);
  const double alone = static_cast<double>(gpu.l2.latency.count()) *
                       static_cast<double>(waits_for(of_a_wg, kernel.wg));
  if (gpu.l2.bandwidth.count() == 0) return alone / kPicoseconds;
  return sharing_l2(gpu, alone, static_cast<double>(of_a_wg), static_cast<double>(kernel.wgs)) /
         kPicoseconds;
}

double transfer_seconds(double bytes, Bandwidth rate) {
  return bytes / static_cast<double>(rate.count());
}

Duration spill_time(const GpuSpec& gpu, const WgShape& wg, int spilled_per_thread) {
  constexpr std::int64_t kRegister = 4;  // B
  return gpu.l2.latency * waits_for(spilled_per_thread * kRegister * wg.threads, wg);
}

}  // namespace weft
