#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "check.h"
#include "kernel_facts.h"
#include "machine.h"

namespace calibration {

struct Grid {
  int wgs;
  int threads = threads_per_wg;
  std::size_t shared_bytes = 0;
};

// Queues `kernel` on `stream` of the GPU in use.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Grid grid, hipStream_t stream, Arguments... arguments) {
  hipLaunchKernelGGL(kernel, dim3(static_cast<unsigned>(grid.wgs)),
                     dim3(static_cast<unsigned>(grid.threads)), grid.shared_bytes, stream,
                     Parameters(arguments)...);
  check(hipGetLastError());
}

// The dynamic shared memory with which `wgs_per_unit` WGs fit on an SM or CU and no more.
inline std::size_t shared_for_occupancy(const Gpu& gpu, int wgs_per_unit) {
  const std::size_t share = gpu.shared_per_unit / static_cast<std::size_t>(wgs_per_unit);
  return (share - gpu.shared_per_wg_own) / 512 * 512;
}

// Lets `kernel` take `shared_bytes`, and says how many of its WGs fit on an SM or CU.
template <class... Parameters>
int prepare_kernel(const Gpu& gpu, void (*kernel)(Parameters...), Grid grid) {
  gpu.use();
#if !defined(__HIP_PLATFORM_AMD__)  // AMD's runtimes take any size up to that of the LDS
  check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                            hipFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(grid.shared_bytes)));
#endif
  int resident = 0;
  check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, grid.threads,
                                                     grid.shared_bytes));
  return resident;
}

template <class... Parameters>
KernelFacts facts_of(const Gpu& gpu, void (*kernel)(Parameters...), Grid grid) {
  hipFuncAttributes attributes;
  const int resident = prepare_kernel(gpu, kernel, grid);
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  return {attributes.numRegs, attributes.localSizeBytes,
          attributes.sharedSizeBytes + grid.shared_bytes, resident};
}

// Adds unused shared memory where without it more than `wgs_per_unit` WGs would fit on an SM or CU.
// Where nothing has to be held back the memory stays a cache.
template <class... Parameters>
Grid limit_occupancy(const Machine& machine, void (*kernel)(Parameters...), Grid grid,
                     int wgs_per_unit) {
  for (const Gpu& gpu : machine.gpus()) {
    if (prepare_kernel(gpu, kernel, grid) > wgs_per_unit) {
      grid.shared_bytes = std::max(grid.shared_bytes, shared_for_occupancy(gpu, wgs_per_unit));
      prepare_kernel(gpu, kernel, grid);
    }
  }
  return grid;
}

// For kernels whose WGs wait for one another: at most `wgs_per_unit` on an SM or CU, and all
// `grid.wgs` resident together.
template <class... Parameters>
Grid persistent_grid(const Machine& machine, void (*kernel)(Parameters...), Grid grid,
                     int wgs_per_unit) {
  grid = limit_occupancy(machine, kernel, grid, wgs_per_unit);
  for (const Gpu& gpu : machine.gpus()) {
    const int resident = prepare_kernel(gpu, kernel, grid) * gpu.units;
    if (grid.wgs > resident) {
      throw NotPossible("only " + std::to_string(resident) + " of " + std::to_string(grid.wgs) +
                        " WGs of a persistent kernel fit");
    }
  }
  return grid;
}

}  // namespace calibration
