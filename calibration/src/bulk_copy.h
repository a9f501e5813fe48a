#pragma once

#include <hip/hip_runtime.h>

// Bulk copies from shared memory by the copy engine of a Hopper SM (PTX ISA, cp.async.bulk). A
// thread's copies make a group; it waits for its own.

namespace calibration {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// `bytes` and both addresses are multiples of 16.
__device__ inline void copy_in_bulk(void* to, unsigned from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}

__device__ inline void end_group_of_copies() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void wait_until_there() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace calibration
