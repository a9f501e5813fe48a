// Recorded kernels as WGs. Alone, each kernel takes its recorded time.
//
// If the recording tells how many bytes a kernel moves, it draws them from the HBM: with T the
// recorded time, S the time that the HBM alone needs for the bytes, and p the memory's saturation
// exponent, its WGs are given
//
//   alone = (T^p - S^p)^(1/p)      so that (alone^p + S^p)^(1/p) = T   (docs/model.md, "Memory")
//
// Concurrently with other kernels it then takes longer, and so do they. A kernel that was recorded
// while others ran is replayed as recorded: it takes T whatever runs concurrently, and its WGs have
// only one wave each on a CU, so that nothing waits for a slot a second time.
#pragma once

#include <string_view>

#include "sim/models/op_kernel.h"
#include "sim/models/recorded_shape.h"

namespace weft {

// As many WGs as were recorded, or as fit; each stays for the whole time.
OpKernel recorded_kernel(const RecordedShape& of_all, const GpuSpec& gpu, std::uint32_t rank);

// What a WG of a recorded kernel needs on this GPU.
WgShape recorded_wg(const RecordedShape& shape, const GpuSpec& gpu);

// One of `wgs` WGs with equal work that run in `rounds`; alone, all rounds take `time`.
Work recorded_work(const RecordedShape& shape, const GpuSpec& gpu, Duration time, std::int64_t wgs,
                   std::int64_t rounds);

// Of the profiler's names: these cross the link to the host, not the HBM alone.
inline bool is_to_or_from_host(std::string_view name) {
  return name.starts_with("Memcpy HtoD") || name.starts_with("Memcpy DtoH");
}

// The longer of the kernel's operations at the arithmetic peak and its bytes at the HBM's
// bandwidth.
double roofline_seconds(const RecordedWork& work, const GpuSpec& gpu);

// The share of the GPU's peak that the kernel reached: the larger of the share of the arithmetic
// peak and that of the HBM's; 0 if the recording does not tell what the kernel computes.
double share_of_peak(const RecordedShape& shape, const GpuSpec& gpu);

}  // namespace weft
