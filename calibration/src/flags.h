#pragma once

#include <hip/hip_runtime.h>

// Flags between GPUs. A flag holds the number of the run that set it last, so that no run has to
// clear it; a counter of arrivals is put back to 0 by whoever arrives last.

namespace calibration {

using Flag = unsigned;

#if defined(CALIBRATION_EMULATION)
#define CALIBRATION_WHILE_WAITING() emulation::yield()
#else
#define CALIBRATION_WHILE_WAITING() static_cast<void>(0)
#endif

__device__ inline void set_flag(Flag* flag, unsigned run) {
  __hip_atomic_store(flag, run, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__device__ inline void wait_for_flag(const Flag* flag, unsigned run) {
  while (__hip_atomic_load(const_cast<Flag*>(flag), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) <
         run) {
    CALIBRATION_WHILE_WAITING();
  }
  __threadfence_system();  // what was stored before the flag is seen after it
}

// By one thread of a WG whose stores are done and behind a barrier. The last of `expected` WGs
// sets the flag.
__device__ inline void arrive(unsigned* counter, unsigned expected, Flag* flag, unsigned run) {
  __threadfence_system();
  if (atomicAdd(counter, 1U) == expected - 1) {
    *counter = 0;
    set_flag(flag, run);
  }
}

}  // namespace calibration
