#pragma once

#include <hip/hip_runtime.h>

namespace calibration {

enum class Order { remote_first, local_first };

// One WG's share of a fused operator's results: the `index`-th slice for GPU `destination`.
struct Slice {
  int destination;
  int index;
};

// The order in which GPU `me` makes its slices: all slices of one destination, then the next.
// Remote first: me + 1, me + 2, ..., me. Local first: me, me + 1, ...
struct SliceOrder {
  int gpus;
  int me;
  int slices_per_destination;
  Order order;

  __host__ __device__ int slices() const { return gpus * slices_per_destination; }

  __host__ __device__ Slice at(int position) const {
    const int first = order == Order::remote_first ? me + 1 : me;
    return {(first + position / slices_per_destination) % gpus, position % slices_per_destination};
  }
};

}  // namespace calibration
