#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "buffers.h"
#include "check.h"
#include "flags.h"
#include "launch.h"

// What the launches have in common: grids of persistent kernels, and peers' pointers as the
// kernels take them.

namespace weft_fused {

template <class T>
calibration::PerGpu<T> pointers(const std::vector<std::intptr_t>& of, std::size_t offset = 0) {
  if (of.empty() || of.size() > static_cast<std::size_t>(calibration::gpus_max)) {
    throw calibration::NotPossible("a kernel takes 1 to " + std::to_string(calibration::gpus_max) +
                                   " ranks, not " + std::to_string(of.size()));
  }
  calibration::PerGpu<T> result{};
  for (std::size_t i = 0; i < of.size(); ++i) {
    result.at[i] = reinterpret_cast<T*>(of[i]) + offset;
  }
  return result;
}

struct WgSize {
  int threads = calibration::threads_per_wg;
  std::size_t shared_bytes = 0;
};

template <class... Parameters, class... Arguments>
void launch(const Ranks& ranks, void (*kernel)(Parameters...), int wgs, WgSize size,
            Arguments... arguments) {
  hipLaunchKernelGGL(kernel, dim3(static_cast<unsigned>(wgs)),
                     dim3(static_cast<unsigned>(size.threads)), size.shared_bytes,
                     reinterpret_cast<hipStream_t>(ranks.stream), Parameters(arguments)...);
  calibration::check(hipGetLastError());
}

// SMs or CUs of the GPU.
inline int units_of(const Ranks& ranks) {
  int units = 0;
  calibration::check(
      hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, ranks.device));
  return units;
}

// How many WGs of `kernel` are resident together on the GPU. A fused kernel has no more, as its WGs
// wait for one another.
template <class... Parameters>
int resident_wgs(const Ranks& ranks, void (*kernel)(Parameters...), WgSize size) {
  calibration::check(hipSetDevice(ranks.device));
#if !defined(__HIP_PLATFORM_AMD__)  // AMD's runtimes take any size up to that of the LDS
  calibration::check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                         hipFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(size.shared_bytes)));
#endif
  int of_a_unit = 0;
  calibration::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&of_a_unit, kernel, size.threads,
                                                                  size.shared_bytes));
  return of_a_unit * units_of(ranks);
}

inline calibration::SliceOrder order_of(
    const Ranks& ranks, int slices_per_destination,
    calibration::Order order = calibration::Order::remote_first) {
  return {ranks.size(), ranks.me, slices_per_destination, order};
}

}  // namespace weft_fused
