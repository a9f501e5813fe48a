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

// One thread sets a flag for all that its WG has stored: the barrier before it (of a warp that has
// waited for its bulk copies, __syncwarp) orders the stores of the other threads before its
// release, and a release at system scope is cumulative: it covers all that happened before it,
// whoever stored it, for whoever acquires the flag on any GPU.
__device__ inline void set_flag(Flag* flag, unsigned run) {
  __hip_atomic_store(flag, run, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

// A macro, as nvcc takes only literals as orders.
#define CALIBRATION_LOAD_FLAG(flag, order) \
  __hip_atomic_load(const_cast<Flag*>(flag), order, __HIP_MEMORY_SCOPE_SYSTEM)

// By one thread; a barrier after it orders the loads of the rest of the WG behind its acquire.
__device__ inline void wait_for_flag(const Flag* flag, unsigned run) {
#if defined(__HIP_PLATFORM_AMD__)
  while (CALIBRATION_LOAD_FLAG(flag, __ATOMIC_RELAXED) < run) {
  }
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");  // once: it drops lines of L2
#else
  while (CALIBRATION_LOAD_FLAG(flag, __ATOMIC_ACQUIRE) < run) {
    CALIBRATION_WHILE_WAITING();
  }
#endif
}

// By one thread of a WG whose stores are done and behind a barrier. The last of `expected` WGs
// sets the flag: each addition releases the stores of its WG to the WGs of this GPU, and acquires
// those of the WGs before it, which the flag's release at system scope thus covers too.
__device__ inline void arrive(unsigned* counter, unsigned expected, Flag* flag, unsigned run) {
  if (__hip_atomic_fetch_add(counter, 1U, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) ==
      expected - 1) {
    *counter = 0;
    set_flag(flag, run);
  }
}

}  // namespace calibration
