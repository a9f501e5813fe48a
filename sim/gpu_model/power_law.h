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
#pragma once

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// A GPU's load in a step that repeats, in seconds.
struct StepLoad {
  double time = 0;
  double matrix = 0;  // its operations at the rate of the library's GEMMs, at clock 1
  double memory = 0;  // its bytes at the memory's bandwidth
};

// The highest clock, at most 1, that keeps the power within the limit. `load` is that of a run at
// `clock`.
double sustained_clock(const PowerSpec& power, const StepLoad& load, double clock);

// Operations over the rate that the library's GEMMs reach at this GPU's clock, in seconds.
double matrix_seconds(const GpuSpec& gpu, double operations);

// The GPU at this fraction of its clock: CUs compute, load and store more slowly by it; the memory,
// the links and the kernels of collectives do not slow down.
GpuSpec at_clock(const GpuSpec& gpu, double clock);

}  // namespace weft
