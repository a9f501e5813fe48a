// Recorded kernels as WGs. Alone, each takes the time that it was recorded with.
//
// A kernel of which the recording tells what it moves asks the HBM for that: with T the recorded
// time, S what the HBM by itself needs for the bytes, and p the memory's bend, its WGs are given
//
//   alone = (T^p - S^p)^(1/p)      so that (alone^p + S^p)^(1/p) = T   (docs/model.md, "Memory")
//
// Beside others it then takes longer, and they do. What ran beside others when it was recorded is
// replayed as recorded: it takes T whatever runs beside it, and one wave's place on a CU, so that
// nothing waits for its place a second time.
#pragma once

#include "sim/models/op_kernel.h"
#include "sim/models/recorded_shape.h"

namespace weft {

// As many WGs as were recorded, or as fit, each there for the whole time.
OpKernel recorded_kernel(const RecordedShape& shape, const GpuSpec& gpu, std::uint32_t rank);

// What a WG of a recorded kernel asks for on this GPU.
WgShape recorded_wg(const RecordedShape& shape, const GpuSpec& gpu);

// One of `wgs` WGs that run in `rounds`, each of an equal part of the work; all rounds alone take
// `time`.
Work recorded_work(const RecordedShape& shape, const GpuSpec& gpu, Duration time, std::int64_t wgs,
                   std::int64_t rounds);

// What of the GPU's peaks the kernel reached: the larger of its flops at theirs and its bytes at
// the HBM's; 0 where the recording does not tell what it computes.
double share_of_peak(const RecordedShape& shape, const GpuSpec& gpu);

}  // namespace weft
