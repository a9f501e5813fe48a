#include "sim/gpu_model/power_law.h"

#include <algorithm>
#include <cmath>

#include "sim/gpu_model/gemm_law.h"

namespace weft {
namespace {

constexpr double kShortExponent = 5;

// At most the highest, of arithmetic at this share of the rate at which the clock is `lowest`.
double clock_of(double share, double lowest, double exponent) {
  return std::min(1.0, lowest * std::pow(share, -1 / exponent));
}

double efficiency_of_library(const GpuSpec& gpu) {
  return gpu.library_gemm ? gpu.library_gemm->efficiency : 1;
}

// The same work at another clock.
StepLoad moved_to(StepLoad load, double from, double to) {
  load.time += load.matrix * (1 / to - 1 / from);
  return load;
}

FlopRate slower(FlopRate rate, double clock) {
  return FlopRate::from_count(std::llround(static_cast<double>(rate.count()) * clock));
}
Duration slower(Duration time, double clock) {
  return picoseconds(std::llround(static_cast<double>(time.count()) / clock));
}

}  // namespace

double power_at(const PowerSpec& power, const StepLoad& load, double clock) {
  return power.idle + power.matrix * load.matrix / load.time * std::pow(clock, power.exponent - 1) +
         power.memory * load.memory / load.time;
}

double seconds_to_limit(const PowerSpec& power, double above) {
  return to_seconds(power.window) * std::log((above - power.idle) / (above - 1));
}

double sustained_clock(const PowerSpec& power, const StepLoad& load, double clock) {
  const auto fits = [&](double c) { return power_at(power, moved_to(load, clock, c), c) <= 1; };
  if (fits(1)) return 1;
  double low = 0.1;
  double high = 1;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double clock_after_pause(const PowerSpec& power, const StepLoad& load, double clock, int steps) {
  const StepLoad full = moved_to(load, clock, 1);
  const double above = power_at(power, full, 1);
  if (above <= 1) return 1;
  const double in_all = full.time * steps;
  const double at_full = std::min(1.0, seconds_to_limit(power, above) / in_all);
  const double sustained = sustained_clock(power, full, 1);
  return 1 / (at_full + (1 - at_full) / sustained);
}

double gain_of_few_cus(const GpuSpec& gpu, double efficiency, double part) {
  if (!gpu.power || gpu.power->short_clock >= 1) return 1;
  const auto clock = [&](double share) {
    return clock_of(share, gpu.power->short_clock, kShortExponent);
  };
  const double share = std::min(1.0, efficiency / efficiency_of_library(gpu));
  return clock(share * part) / clock(share);
}

double matrix_seconds(const GpuSpec& gpu, double operations) {
  return large_gemm_seconds(gpu, operations, efficiency_of_library(gpu));
}

ClockBeside::ClockBeside(const std::optional<PowerSpec>& power) {
  static_assert(kSteps == 1U << 8U);
  if (!power || power->gemm_clock >= 1) return;
  stretch.push_back(1U << kUnitBits);
  for (unsigned i = 1; i <= kSteps; ++i) {
    const double clock =
        clock_of(static_cast<double>(i) / kSteps, power->gemm_clock, power->exponent);
    stretch.push_back(
        static_cast<std::uint32_t>(std::llround(static_cast<double>(1U << kUnitBits) / clock)));
  }
}

std::uint32_t share_of_matrix(const GpuSpec& gpu, Flops operations, Duration time) {
  if (operations == Flops{} || time == Duration{}) return 0;
  const double share =
      matrix_seconds(gpu, static_cast<double>(operations.count())) / to_seconds(time);
  return static_cast<std::uint32_t>(
      std::llround(std::min(1.0, share) * (1U << ClockBeside::kShareBits)));
}

GpuSpec at_clock(const GpuSpec& gpu, double clock) {
  GpuSpec slow = gpu;
  if (slow.power) slow.power->gemm_clock *= clock;
  slow.bf16_matrix = slower(gpu.bf16_matrix, clock);
  slow.fp8_matrix = slower(gpu.fp8_matrix, clock);
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
    if (auto& flash = attention->flash_2) {
      flash->masked = slower(flash->masked, clock);
      flash->ragged = slower(flash->ragged, clock);
    }
  }
  if (auto& engine = slow.engine_attention) {
    engine->exponentials = slower(engine->exponentials, clock);
    engine->start = slower(engine->start, clock);
    engine->part = slower(engine->part, clock);
  }
  return slow;
}

}  // namespace weft
