// How sure a predicted time is, from how far weft's laws were off where they were measured.
//
// A time is the sum of what operators and launches have on its critical path. Each law l is off by
// a factor that 80 % of the time lies between low_l and high_l, half of it below median_l
// (gpu.errors). Half of a law's variance is common to all operators that follow it (the GPU's
// clock, the library's release), half is each operator's own (its shape):
//
//   time x median + - sqrt(sum over l of (high_l - median_l)^2 x (S_l^2 / 2 + Q_l / 2))
//
//   S_l  time of the critical path in operators of law l, Q_l the sum of its squares by operator
//
// with low_l below. Recorded times are taken as they are.
//
// How many times as fast a mode is as another is surer than either: what an operator is off by, it
// is off by in both. Of the logarithm of B / T, with all times x median:
//
//   + - sqrt(sum over l of ln(high_l / median_l)^2 x (C_l^2 / 2 + O_l / 2))
//
//   C_l  share of law l in B less that in T; O_l the sum of squares of the same of each operator
//
// with median_l / low_l where the share is negative, and the other way round below.
#pragma once

#include "sim/engine/results.h"
#include "sim/gpu_model/law.h"

namespace weft {

// In which 80 % of measured times would be.
struct TimeRange {
  double low_us = 0;
  double high_us = 0;
};
TimeRange range_of(const RunResult& result, const LawErrors& errors);

// Likewise of baseline's time / this one's. Operators of one name and law are the same in both.
struct SpeedupRange {
  double low = 0;
  double high = 0;
};
SpeedupRange speedup_range_of(const RunResult& baseline, const RunResult& result,
                              const LawErrors& errors);

}  // namespace weft
