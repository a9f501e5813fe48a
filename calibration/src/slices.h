#pragma once

#include <hip/hip_runtime.h>

namespace calibration {

enum class Order { remote_first, local_first, in_turn };

// One WG's share of a fused operator's results: the `index`-th slice for GPU `destination`.
struct Slice {
  int destination;
  int index;
};

// The order in which GPU `me` makes its slices.
// Remote first: all of one destination, then the next: me + 1, me + 2, ..., me. Local first: me,
// me + 1, ... In turn: one of each destination, from me + 1 on, so that links are in use all the
// time, and tiles of all destinations share B.
struct SliceOrder {
  int gpus;
  int me;
  int slices_per_destination;
  Order order;

  __host__ __device__ int slices() const { return gpus * slices_per_destination; }

  __host__ __device__ Slice at(int position) const {
    if (order == Order::in_turn) {
      return {(me + 1 + position % gpus) % gpus, position / gpus};
    }
    const int first = order == Order::remote_first ? me + 1 : me;
    return {(first + position / slices_per_destination) % gpus, position % slices_per_destination};
  }
};

}  // namespace calibration
