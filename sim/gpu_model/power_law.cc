#include "sim/gpu_model/power_law.h"

#include <cmath>

#include "sim/gpu_model/gemm_law.h"

namespace weft {
namespace {

double power_at(const PowerSpec& power, const StepLoad& load, double clock) {
  return power.idle + power.matrix * load.matrix / load.time * std::pow(clock, power.exponent - 1) +
         power.memory * load.memory / load.time;
}

FlopRate slower(FlopRate rate, double clock) {
  return FlopRate::from_count(std::llround(static_cast<double>(rate.count()) * clock));
}
Duration slower(Duration time, double clock) {
  return picoseconds(std::llround(static_cast<double>(time.count()) / clock));
}

}  // namespace

double sustained_clock(const PowerSpec& power, const StepLoad& load, double clock) {
  const auto fits = [&](double c) {
    StepLoad there = load;
    there.time += load.matrix * (1 / c - 1 / clock);
    return power_at(power, there, c) <= 1;
  };
  if (fits(1)) return 1;
  double low = 0.1;
  double high = 1;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double matrix_seconds(const GpuSpec& gpu, double operations) {
  const double efficiency = gpu.library_gemm ? gpu.library_gemm->efficiency : 1;
  return large_gemm_seconds(gpu, operations, efficiency);
}

GpuSpec at_clock(const GpuSpec& gpu, double clock) {
  GpuSpec slow = gpu;
  slow.bf16_matrix = slower(gpu.bf16_matrix, clock);
  slow.fp32_vector = slower(gpu.fp32_vector, clock);
  if (auto& gemm = slow.library_gemm) {
    gemm->load = fraction_of(gemm->load, clock);
    gemm->store = fraction_of(gemm->store, clock);
    gemm->start = slower(gemm->start, clock);
  }
  if (auto& attention = slow.library_attention) {
    attention->exponentials = slower(attention->exponentials, clock);
    attention->setup = slower(attention->setup, clock);
    attention->start = slower(attention->start, clock);
    attention->split_start = slower(attention->split_start, clock);
    attention->backward_start = slower(attention->backward_start, clock);
  }
  return slow;
}

}  // namespace weft
