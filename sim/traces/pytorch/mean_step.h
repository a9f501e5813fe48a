// Several profiled steps as one.
#pragma once

#include "sim/traces/problems.h"
#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// Keeps the first ProfilerStep, with each kernel's time the mean of its times in all steps: the
// n-th kernel of a stream is the same in all of them. It is a problem if there is no step, or if
// steps differ in their kernels.
void keep_mean_of_steps(KinetoFile& file, TraceProblems& problems);

}  // namespace weft
