#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstring>
#if defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_fp16.h>
#endif

namespace calibration {

// Two halves of a word, the low one first.
__device__ inline float2 from_halves(std::uint32_t word) {
#if defined(CALIBRATION_EMULATION)
  _Float16 halves[2];
  memcpy(halves, &word, sizeof word);
  return {static_cast<float>(halves[0]), static_cast<float>(halves[1])};
#else
  __half2 halves;
  memcpy(&halves, &word, sizeof word);
  return __half22float2(halves);
#endif
}

}  // namespace calibration
