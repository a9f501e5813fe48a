#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>

#include "buffers.h"
#include "flags.h"
#include "slices.h"

// The kernels of embedding + all-to-all: of this harness, and of the operator in torch/.

namespace calibration {

constexpr int pooling_occupancy = 6;  // WGs on an SM or CU
constexpr int pooling_loads = 4;      // of 16 bytes, in flight in a thread

// A pooled row is a sample of the batch and a table: row / tables and row % tables.
struct Lookup {
  const float4* table_rows;
  const std::uint32_t* indices;  // `pooling` of a pooled row
  unsigned tables;
  unsigned lanes;  // threads a row takes: 16 bytes each
  unsigned pooling;
  unsigned rows_per_table;
  unsigned rows_per_wg;
};

__device__ inline void add_to(float4& sum, const float4& row) {
  sum.x += row.x;
  sum.y += row.y;
  sum.z += row.z;
  sum.w += row.w;
}

// Pools `rows_per_wg` rows from `first_row` on into `out`. Four rows are in flight in a thread.
__device__ inline void pool_rows(const Lookup& lookup, unsigned first_row, float4* out) {
  const unsigned lane = threadIdx.x % lookup.lanes;
  const unsigned rows_at_once = blockDim.x / lookup.lanes;
  for (unsigned r = threadIdx.x / lookup.lanes; r < lookup.rows_per_wg; r += rows_at_once) {
    const unsigned row = first_row + r;
    const unsigned table = row % lookup.tables;
    const float4* rows =
        lookup.table_rows + static_cast<std::size_t>(table) * lookup.rows_per_table * lookup.lanes;
    const std::uint32_t* indices = lookup.indices + static_cast<std::size_t>(row) * lookup.pooling;
    const auto at = [&](unsigned p) {
      return rows + static_cast<std::size_t>(indices[p]) * lookup.lanes + lane;
    };
    float4 sum = make_float4(0, 0, 0, 0);
    unsigned p = 0;
    for (; p + 4 <= lookup.pooling; p += 4) {
      const float4 v0 = *at(p);
      const float4 v1 = *at(p + 1);
      const float4 v2 = *at(p + 2);
      const float4 v3 = *at(p + 3);
      add_to(sum, v0);
      add_to(sum, v1);
      add_to(sum, v2);
      add_to(sum, v3);
    }
    for (; p < lookup.pooling; ++p) {
      add_to(sum, *at(p));
    }
    out[static_cast<std::size_t>(r) * lookup.lanes + lane] = sum;
  }
}

static __global__ void __launch_bounds__(threads_per_wg, pooling_occupancy)
    pool(Lookup lookup, float4* out) {
  const unsigned first_row = blockIdx.x * lookup.rows_per_wg;
  pool_rows(lookup, first_row, out + static_cast<std::size_t>(first_row) * lookup.lanes);
}

struct PooledSending {
  SliceOrder order;
  int flags_per_destination;
  PerGpu<float4> out;  // [source][sample of mine][table][dim]
  PerGpu<Flag> flags;  // [source][flag]
  unsigned* counters;  // [destination][flag]
  unsigned run;
};

// Persistent: slices in the order given, stored straight into the output of their destination.
static __global__ void __launch_bounds__(threads_per_wg, pooling_occupancy)
    pool_and_send(Lookup lookup, PooledSending sending) {
  const SliceOrder& order = sending.order;
  const int groups = sending.flags_per_destination;
  const std::size_t words_per_slice = static_cast<std::size_t>(lookup.rows_per_wg) * lookup.lanes;
  const std::size_t words_per_source =
      words_per_slice * static_cast<std::size_t>(order.slices_per_destination);
  const int slices_per_flag = (order.slices_per_destination + groups - 1) / groups;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    const int whole = slice.destination * order.slices_per_destination + slice.index;
    float4* out = sending.out.at[slice.destination] +
                  static_cast<std::size_t>(order.me) * words_per_source +
                  static_cast<std::size_t>(slice.index) * words_per_slice;
    pool_rows(lookup, static_cast<unsigned>(whole) * lookup.rows_per_wg, out);
    __syncthreads();
    if (threadIdx.x == 0) {
      const int group = slice.index / slices_per_flag;
      const int left = order.slices_per_destination - group * slices_per_flag;
      const int expected = left < slices_per_flag ? left : slices_per_flag;
      arrive(sending.counters + slice.destination * groups + group, static_cast<unsigned>(expected),
             sending.flags.at[slice.destination] + order.me * groups + group, sending.run);
    }
  }
  const int flags = (order.slices_per_destination + slices_per_flag - 1) / slices_per_flag;
  if (blockIdx.x == 0) {
    for (int f = static_cast<int>(threadIdx.x); f < order.gpus * flags;
         f += static_cast<int>(blockDim.x)) {
      wait_for_flag(sending.flags.at[order.me] + f / flags * groups + f % flags, sending.run);
    }
  }
}

}  // namespace calibration
