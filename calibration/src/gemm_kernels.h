#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#include "buffers.h"
#include "flags.h"
#include "gemm_tile.h"
#include "slices.h"

// The fused kernels of GEMM + all-to-all and GEMM + reduce-scatter: of this harness, and of the
// operators in torch/. Rows of C are grouped by GPU. Last, all-gather + GEMM, of torch/ alone.

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

// All-gather + GEMM: each GPU has `rows` rows of A, and computes C of the rows of all.

constexpr int gather_rows = 8;   // of A, that a WG sends at a time; tile_m rows share a flag
constexpr int gather_loads = 4;  // of 16 bytes, in flight in a thread that sends

struct Gathering {
  int gpus;
  int me;
  int rows;
  int senders;                 // WGs that send A before they multiply
  const bf16_bits* shard;      // my rows
  PerGpu<bf16_bits> gathered;  // [source][row][k], at each GPU; its own rows stay in its shard
  PerGpu<Flag> flags;          // [source][tile_m rows]
  unsigned* counters;          // [destination][tile_m rows]
  unsigned* queue;             // the next tile, and the WGs that found none left
  bf16_bits* c;                // [source][row][column]
  unsigned run;
};

__device__ inline void send_words(const uint4* from, uint4* to, int words) {
  const int step = static_cast<int>(blockDim.x);
  int i = static_cast<int>(threadIdx.x);
  for (; i + (gather_loads - 1) * step < words; i += gather_loads * step) {
    uint4 word[gather_loads];
#pragma unroll
    for (int l = 0; l < gather_loads; ++l) {
      word[l] = from[i + l * step];
    }
#pragma unroll
    for (int l = 0; l < gather_loads; ++l) {
      to[i + l * step] = word[l];
    }
  }
  for (; i < words; i += step) {
    to[i] = from[i];
  }
}

// The rows in order, each to all others in turn, so that all get the first ones early.
__device__ inline void send_shard(const Gathering& gathering, int k) {
  const int others = gathering.gpus - 1;
  const int groups = gathering.rows / tile_m;
  const int chunks = gathering.rows / gather_rows * others;
  for (int chunk = static_cast<int>(blockIdx.x); chunk < chunks; chunk += gathering.senders) {
    const int to = (gathering.me + 1 + chunk % others) % gathering.gpus;
    const int row = chunk / others * gather_rows;
    const auto width = static_cast<std::size_t>(k);
    const bf16_bits* from = gathering.shard + static_cast<std::size_t>(row) * width;
    bf16_bits* target = gathering.gathered.at[to] +
                        static_cast<std::size_t>(gathering.me * gathering.rows + row) * width;
    send_words(reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(target),
               gather_rows * k / 8);
    __syncthreads();
    if (threadIdx.x == 0) {
      const int group = row / tile_m;
      arrive(gathering.counters + to * groups + group, tile_m / gather_rows,
             gathering.flags.at[to] + gathering.me * groups + group, gathering.run);
    }
  }
}

// The next tile, for the whole WG. The last WG that finds none left clears the queue.
__device__ inline int take_tile(const Gathering& gathering, int tiles) {
  int& taken = *reinterpret_cast<int*>(tile_shared());  // between two tiles nothing else is there
  if (threadIdx.x == 0) {
    taken = static_cast<int>(
        __hip_atomic_fetch_add(gathering.queue, 1U, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
    if (taken >= tiles && __hip_atomic_fetch_add(gathering.queue + 1, 1U, __ATOMIC_ACQ_REL,
                                                 __HIP_MEMORY_SCOPE_AGENT) == gridDim.x - 1) {
      gathering.queue[0] = 0;
      gathering.queue[1] = 0;
    }
  }
  __syncthreads();
  const int tile = taken;
  __syncthreads();
  return tile;
}

// Persistent. The first `senders` WGs send the shard; all take tiles, of the own rows first.
static __global__ void __launch_bounds__(threads_per_wg, gemm_occupancy)
    gather_and_multiply(Product product, Gathering gathering) {
  if (static_cast<int>(blockIdx.x) < gathering.senders) {
    send_shard(gathering, product.k);
  }
  const int across = product.n / tile_n;
  const int groups = gathering.rows / tile_m;
  const int tiles_of_source = groups * across;
  const int tiles = gathering.gpus * tiles_of_source;
  for (int tile = take_tile(gathering, tiles); tile < tiles; tile = take_tile(gathering, tiles)) {
    const int source = (gathering.me + tile / tiles_of_source) % gathering.gpus;
    const int group = tile % tiles_of_source / across;
    const TilePlace at{group * tile_m, tile % across * tile_n};
    const int first_row = source * gathering.rows;
    if (source == gathering.me) {
      product.a = gathering.shard;
    } else {
      if (threadIdx.x == 0) {
        wait_for_flag(gathering.flags.at[gathering.me] + source * groups + group, gathering.run);
      }
      __syncthreads();
      product.a = gathering.gathered.at[gathering.me] +
                  static_cast<std::size_t>(first_row) * static_cast<std::size_t>(product.k);
    }
    make_tile(
        product, at,
        gathering.c +
            static_cast<std::size_t>(first_row + at.row) * static_cast<std::size_t>(product.n) +
            at.column,
        product.n);
  }
}

}  // namespace calibration
