// What a profile's kernels compute, from the operators that launched them; and which ran beside
// others when they were recorded.
#pragma once

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// A kernel's operator is the innermost that its launch lies in, on the launching thread. Of several
// kernels of one operator the longest does its work; the others (sums of split k, preparations)
// stay as recorded.
void add_work(KinetoFile& file);

// Sets GpuEvent::beside of kernels that shared the GPU with a kernel of another stream for more
// than a twentieth of their time.
void find_beside(KinetoFile& file);

}  // namespace weft
