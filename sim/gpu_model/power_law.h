// The clock under a power limit, where a GPU works for seconds (docs/model.md, "Power").
//
// Short kernels run at the clock that GpuSpec's rates hold for. After some 50 ms the card lowers it
// until its mean power is at the limit. As fractions of the limit:
//
//   power(c) = idle + matrix x (m / T) x c^(exponent - 1) + memory x h / T
//
// c: the clock over that of short kernels; T: the time of a step; m: its operations over the rate
// that the library's GEMMs reach at clock 1; h: its bytes over the memory's bandwidth. The part of
// T that the operations need grows as 1 / c.
//
// The limit holds for the mean power of the last `window`, here as an exponential mean. A GPU that
// was idle and then has power p > 1 at clock 1 reaches the limit after
//
//   window x ln((p - idle) / (p - 1))
//
// Within milliseconds, too, a GPU that computes has a lower clock than one that copies. GEMMs whose
// operations come at a fraction x of the rate of large ones leave
//
//   clock(x) = gemm_clock x^(-1 / exponent), at most 1
//
// as power(c) has it without memory: x c^exponent is the same for all x. The rates of GEMMs are
// measured at that clock. What else runs beside them at the clock of the CUs takes 1 / clock(x)
// times as long: the channels of collectives.
//
// A GEMM of less than a millisecond has, with x the rate of its operations on the CUs that it has,
//
//   clock(x) = short_clock x^(-1 / 5), at most 1
//
// so it is faster by clock(x) / clock(of all CUs) where some CUs have no tile. The power 5 is [M]:
// tiles by 12 to 132 programs on an H100 (calibration/measurements/h100-triton-few_programs.jsonl).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// A GPU's load in a step that repeats, in seconds.
struct StepLoad {
  double time = 0;
  double matrix = 0;  // its operations at the rate of the library's GEMMs, at clock 1
  double memory = 0;  // its bytes at the memory's bandwidth
};

// Mean power of a step at `clock`, over the limit.
double power_at(const PowerSpec& power, const StepLoad& load, double clock);

// How long a GPU that was idle may have this power, above 1.
double seconds_to_limit(const PowerSpec& power, double above);

// The highest clock, at most 1, that keeps the power within the limit. `load` is that of a run at
// `clock`.
double sustained_clock(const PowerSpec& power, const StepLoad& load, double clock);

// The clock at which a step takes as long as the mean of `steps` in a row after a pause: at clock 1
// until the limit is reached, then at the sustained clock.
double clock_after_pause(const PowerSpec& power, const StepLoad& load, double clock, int steps);

// How much faster a short GEMM is on this part of the CUs than on all of them, where it reaches
// this fraction of the matrix units' peak.
double gain_of_few_cus(const GpuSpec& gpu, double efficiency, double part);

// Operations over the rate that the library's GEMMs reach at this GPU's clock, in seconds.
double matrix_seconds(const GpuSpec& gpu, double operations);

// The GPU at this fraction of its clock: CUs compute, load and store more slowly by it, and kernels
// of collectives beside GEMMs; the memory and the links do not slow down.
GpuSpec at_clock(const GpuSpec& gpu, double clock);

// How much longer channels take beside arithmetic: entry i for a fraction i / kSteps of the rate of
// large GEMMs, in units of 2^-20. Empty where the clock is not known to fall.
struct ClockBeside {
  static constexpr unsigned kShareBits = 24;  // shares are in units of 2^-24
  static constexpr unsigned kSteps = 256;
  static constexpr unsigned kUnitBits = 20;
  std::vector<std::uint32_t> stretch;

  explicit ClockBeside(const std::optional<PowerSpec>& power);
  [[nodiscard]] bool falls() const { return !stretch.empty(); }
  [[nodiscard]] std::uint32_t at(std::uint64_t share) const {
    return stretch[std::min<std::uint64_t>(share >> (kShareBits - 8), kSteps)];
  }
};

// The share of the rate of the library's large GEMMs that `operations` in `time` are.
std::uint32_t share_of_matrix(const GpuSpec& gpu, Flops operations, Duration time);

}  // namespace weft
