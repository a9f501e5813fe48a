#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

namespace calibration {

// Reads and writes 16 bytes at a time, one load in flight in a thread.
static __global__ void copy_words(const uint4* from, uint4* to, std::size_t words) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (; i < words; i += stride) {
    to[i] = from[i];
  }
}

// A load that the cache of an SM or CU does not keep. AMD's is too small to matter.
__device__ inline uint4 load_past_l1(const uint4* from) {
#if defined(__CUDACC__)
  return __ldcg(from);
#else
  return *from;
#endif
}

}  // namespace calibration
