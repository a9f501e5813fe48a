#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "buffers.h"
#include "flags.h"
#include "halves.h"
#include "slices.h"

// The kernels of GEMV + all-reduce: of this harness, and of the operator in torch/.

namespace calibration {

constexpr int gemv_occupancy = 5;  // WGs on an SM or CU
constexpr int halves_per_word = 8;

struct Gemv {
  const uint4* w;  // m x k_local halves
  const uint4* x;  // k_local halves
  unsigned words;  // 16 bytes each, in a row
  int rows_per_wg;
};

__device__ inline float dot(const uint4& a, const uint4& b) {
  const unsigned left[4] = {a.x, a.y, a.z, a.w};
  const unsigned right[4] = {b.x, b.y, b.z, b.w};
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 l = from_halves(left[i]);
    const float2 r = from_halves(right[i]);
    sum += l.x * r.x;
    sum += l.y * r.y;
  }
  return sum;
}

// Rows `first_row` on, one warp a row, into y[0], y[1], ...
template <int loads>
__device__ inline void multiply_rows(const Gemv& gemv, int first_row, float* y) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  const int warps = static_cast<int>(blockDim.x) / warpSize;
  const auto step = static_cast<unsigned>(warpSize);
  for (int r = static_cast<int>(threadIdx.x) / warpSize; r < gemv.rows_per_wg; r += warps) {
    const uint4* row = gemv.w + static_cast<std::size_t>(first_row + r) * gemv.words;
    float sum = 0;
    auto i = static_cast<unsigned>(lane);
#pragma unroll 1
    for (; i + (loads - 1) * step < gemv.words; i += loads * step) {
      uint4 word[loads];
#pragma unroll
      for (unsigned l = 0; l < loads; ++l) {
        word[l] = row[i + l * step];
      }
#pragma unroll
      for (unsigned l = 0; l < loads; ++l) {
        sum += dot(word[l], gemv.x[i + l * step]);
      }
    }
#pragma unroll 1
    for (; i < gemv.words; i += step) {
      sum += dot(row[i], gemv.x[i]);
    }
    for (int other = warpSize / 2; other > 0; other /= 2) {
      sum += __shfl_xor(sum, other);
    }
    if (lane == 0) {
      y[r] = sum;
    }
  }
}

template <int loads>
static __global__ void __launch_bounds__(threads_per_wg, gemv_occupancy)
    multiply(Gemv gemv, float* y) {
  const int first_row = static_cast<int>(blockIdx.x) * gemv.rows_per_wg;
  multiply_rows<loads>(gemv, first_row, y + first_row);
}

struct RowReducing {
  SliceOrder order;
  PerGpu<float> parts;      // [source][row of mine]: the parts that come to me as owner
  PerGpu<Flag> part_flags;  // [source][slice of mine]
  PerGpu<float> y;          // [row]
  PerGpu<Flag> sum_flags;   // [slice of all]
  unsigned run;
};

template <int loads>
__device__ inline void send_row_parts(const Gemv& gemv, const RowReducing& reducing) {
  const SliceOrder& order = reducing.order;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    const int whole = slice.destination * order.slices_per_destination + slice.index;
    const int at_owner = order.me * order.slices_per_destination + slice.index;
    multiply_rows<loads>(gemv, whole * gemv.rows_per_wg,
                         reducing.parts.at[slice.destination] + at_owner * gemv.rows_per_wg);
    __syncthreads();
    if (threadIdx.x == 0) {
      set_flag(reducing.part_flags.at[slice.destination] + at_owner, reducing.run);
    }
  }
}

__device__ inline void sum_rows_and_send(const RowReducing& reducing, int rows_per_slice) {
  const SliceOrder& order = reducing.order;
  const float* parts = reducing.parts.at[order.me];
  const int rows = order.slices_per_destination * rows_per_slice;
  for (int slice = static_cast<int>(blockIdx.x); slice < order.slices_per_destination;
       slice += static_cast<int>(gridDim.x)) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < order.gpus) {
      wait_for_flag(
          reducing.part_flags.at[order.me] + thread * order.slices_per_destination + slice,
          reducing.run);
    }
    __syncthreads();
    for (int r = thread; r < rows_per_slice; r += static_cast<int>(blockDim.x)) {
      const int row = slice * rows_per_slice + r;
      float sum = 0;
      for (int source = 0; source < order.gpus; ++source) {
        sum += parts[source * rows + row];
      }
      for (int step = 1; step <= order.gpus; ++step) {
        reducing.y.at[(order.me + step) % order.gpus][order.me * rows + row] = sum;
      }
    }
    __syncthreads();
    if (thread < order.gpus) {
      const int to = (order.me + 1 + thread) % order.gpus;
      set_flag(reducing.sum_flags.at[to] + order.me * order.slices_per_destination + slice,
               reducing.run);
    }
  }
}

// Persistent. Ends when the sums of all slices have come.
template <int loads>
static __global__ void __launch_bounds__(threads_per_wg, gemv_occupancy)
    multiply_and_all_reduce(Gemv gemv, RowReducing reducing) {
  send_row_parts<loads>(gemv, reducing);
  sum_rows_and_send(reducing, gemv.rows_per_wg);
  const Flag* flags = reducing.sum_flags.at[reducing.order.me];
  for (unsigned slice = blockIdx.x * blockDim.x + threadIdx.x;
       slice < static_cast<unsigned>(reducing.order.slices()); slice += gridDim.x * blockDim.x) {
    wait_for_flag(flags + slice, reducing.run);
  }
}

}  // namespace calibration
