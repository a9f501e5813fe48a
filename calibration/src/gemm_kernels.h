#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "buffers.h"
#include "flags.h"
#include "gemm_tile.h"
#include "slices.h"

// The fused kernels of GEMM + all-to-all and GEMM + reduce-scatter: of this harness, and of the
// operators in torch/. Rows of C are grouped by GPU.

namespace calibration {

constexpr int gemm_occupancy = 2;  // WGs on an SM or CU

// The place of a slice's tile in C, and in the rows that its destination has of it.
struct SlicePlace {
  TilePlace in_all;
  TilePlace at_destination;
  int rows;  // of each destination
};

__device__ inline SlicePlace place_of_slice(const SliceOrder& order, Slice slice, int n) {
  const int across = n / tile_n;
  const int rows = order.slices_per_destination / across * tile_m;
  const TilePlace own{slice.index / across * tile_m, slice.index % across * tile_n};
  return {{slice.destination * rows + own.row, own.column}, own, rows};
}

// Computes the tile of `slice` and stores it in `to`, [source][row of the destination][column].
__device__ inline void send_tile(const Product& product, const SliceOrder& order, Slice slice,
                                 bf16_bits* to) {
  const SlicePlace place = place_of_slice(order, slice, product.n);
  const auto row = static_cast<std::size_t>(order.me * place.rows + place.at_destination.row);
  make_tile(product, place.in_all,
            to + row * static_cast<std::size_t>(product.n) + place.at_destination.column,
            product.n);
}

// GEMM + all-to-all.

struct TileSending {
  SliceOrder order;
  PerGpu<bf16_bits> out;  // [source][row of mine][column]
  PerGpu<Flag> flags;     // [source]
  unsigned* counters;     // [destination]
  unsigned run;
};

// Persistent: tiles in the order given, stored straight into the output of their destination.
static __global__ void __launch_bounds__(threads_per_wg, gemm_occupancy)
    multiply_and_send(Product product, TileSending sending) {
  const SliceOrder& order = sending.order;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    send_tile(product, order, slice, sending.out.at[slice.destination]);
    if (threadIdx.x == 0) {
      arrive(sending.counters + slice.destination,
             static_cast<unsigned>(order.slices_per_destination),
             sending.flags.at[slice.destination] + order.me, sending.run);
    }
  }
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < order.gpus) {
    wait_for_flag(sending.flags.at[order.me] + threadIdx.x, sending.run);
  }
}

// GEMM + reduce-scatter: parts travel as bf16, as the library's do.

struct TileReducing {
  SliceOrder order;
  PerGpu<bf16_bits> parts;  // [source][row of mine][column], at the owner
  PerGpu<Flag> flags;       // [source][tile of mine]
  bf16_bits* sums;          // [row of mine][column]
  unsigned run;
};

__device__ inline void send_tile_parts(const Product& product, const TileReducing& reducing) {
  const SliceOrder& order = reducing.order;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    send_tile(product, order, slice, reducing.parts.at[slice.destination]);
    if (threadIdx.x == 0) {
      set_flag(reducing.flags.at[slice.destination] + order.me * order.slices_per_destination +
                   slice.index,
               reducing.run);
    }
  }
}

__device__ inline unsigned add_pairs(const unsigned* words, int count) {
  float low = 0;
  float high = 0;
  for (int i = 0; i < count; ++i) {
    low += from_bf16(static_cast<bf16_bits>(words[i] & 0xFFFFU));
    high += from_bf16(static_cast<bf16_bits>(words[i] >> 16U));
  }
  return to_bf16(low) | static_cast<unsigned>(to_bf16(high)) << 16U;
}

__device__ inline void sum_tile(const TileReducing& reducing, TilePlace at, int rows, int n) {
  const int gpus = reducing.order.gpus;
  const bf16_bits* parts = reducing.parts.at[reducing.order.me];
  const auto pitch = static_cast<std::size_t>(n);
  constexpr int words = tile_n / 2;  // pairs of elements in a row
  for (int i = static_cast<int>(threadIdx.x); i < tile_m * words; i += threads_per_wg) {
    const std::size_t element = static_cast<std::size_t>(at.row + i / words) * pitch +
                                static_cast<std::size_t>(at.column + i % words * 2);
    unsigned pairs[gpus_max];
    for (int source = 0; source < gpus; ++source) {
      pairs[source] = *reinterpret_cast<const unsigned*>(
          parts + static_cast<std::size_t>(source * rows) * pitch + element);
    }
    *reinterpret_cast<unsigned*>(reducing.sums + element) = add_pairs(pairs, gpus);
  }
}

// Persistent: sends all parts, then sums the tiles it owns as their parts come.
static __global__ void __launch_bounds__(threads_per_wg, gemm_occupancy)
    multiply_and_reduce(Product product, TileReducing reducing) {
  const SliceOrder& order = reducing.order;
  send_tile_parts(product, reducing);
  for (int tile = static_cast<int>(blockIdx.x); tile < order.slices_per_destination;
       tile += static_cast<int>(gridDim.x)) {
    const int source = static_cast<int>(threadIdx.x);
    if (source < order.gpus) {
      wait_for_flag(reducing.flags.at[order.me] + source * order.slices_per_destination + tile,
                    reducing.run);
    }
    __syncthreads();
    const SlicePlace place = place_of_slice(order, {order.me, tile}, product.n);
    sum_tile(reducing, place.at_destination, place.rows, product.n);
    __syncthreads();
  }
}

}  // namespace calibration
