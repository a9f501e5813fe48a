// What a profile's kernels compute, from the operators that launched them; and which of them ran
// concurrently with others when they were recorded.
#pragma once

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

// A kernel's operator is the innermost one on the launching thread that encloses its launch. If an
// operator has several kernels, the longest is taken to do its work; the others (sums of split k,
// preparations) stay as recorded.
void add_work(KinetoFile& file);

// A library's kernel whose WGs take their work from a counter has it cleared by a fill of a few
// bytes right before: makes both one kernel, the GEMM or attention, which begins where the fill
// did. So nothing stands between it and the collective that it waits for.
void join_counters(KinetoFile& file);

// Sets GpuEvent::beside of kernels that shared the GPU with a kernel of another stream for more
// than a twentieth of their time.
void find_beside(KinetoFile& file);

}  // namespace weft
