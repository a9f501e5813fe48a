// What a WG gets of its CU (docs/model.md, "Residency and dispatch" and "Arithmetic").
//
//   WGs on a CU = the least of waves, registers, LDS and slots over what a WG needs (residency.h)
//   share       = min(waves of the WG, 4) / 4        of a CU's arithmetic, in thousandths
//   time        = operations / (peak / CUs x share)
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// WGs of this shape that a CU runs at once, with this many extra registers per thread.
int resident_on_cu(const GpuSpec& gpu, const WgShape& wg, int extra_registers = 0);

// Thousandths of a CU's arithmetic that a WG of `threads` threads can use alone: 4 SIMDs per CU.
std::uint32_t share_of_cu(const GpuSpec& gpu, int threads);

// The time of `work` operations on `share` thousandths of one CU of a GPU with this peak.
Duration arithmetic_time(Flops work, FlopRate peak, const GpuSpec& gpu, std::uint32_t share);

// Products and `scores` that pass the softmax, by different units of the CU that wait for one
// another: the root of the sum of the squares of their times.
struct AttentionWork {
  Flops products;
  FlopRate reached;  // peak of the products
  std::int64_t scores = 0;
  FlopRate exponentials;  // peak of the scores
};
Duration attention_time(const AttentionWork& work, const GpuSpec& gpu, std::uint32_t share);

}  // namespace weft
