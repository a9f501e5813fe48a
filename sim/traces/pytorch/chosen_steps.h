// Which of a profile's steps are replayed, and as what.
#pragma once

#include <cstddef>

#include "sim/scenario/trace_work.h"
#include "sim/traces/problems.h"
#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// Keeps the steps from `step` to `last_step`, or all; if so wished, as their mean. It is a problem
// if the profile lacks one of them. Returns how many kernels of before it leaves out
// (drop_unlaunched).
std::size_t choose_steps(const TraceWork& work, KinetoFile& file, TraceProblems& problems);

}  // namespace weft
