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

// The place of a slice's tile in C, and in the rows that its destination has of it.
struct SlicePlace {
  TilePlace in_all;
  TilePlace at_destination;
  int rows;  // of each destination
};

template <int tile_n>
__device__ inline SlicePlace place_of_slice(const SliceOrder& order, Slice slice, int n) {
  const int across = n / tile_n;
  const int down = order.slices_per_destination / across;
  const TilePlace own = tile_in_groups<tile_n>(slice.index, down, across);
  const int rows = down * tile_m;
  return {{slice.destination * rows + own.row, own.column}, own, rows};
}

// Who sends to peers, of the WGs of a GPU. While an SM's stores wait for a link its loads wait too:
// an H100 multiplies at a quarter of its rate meanwhile. All WGs at once share the link, and each
// waits as long as all of it takes; a few at a time wait for their own tiles only.
// Of 132 WGs: with 16 a link of an H100 carries 250 GB/s, with 32 276, with 64 340 and with all 357
// (micro.p2p_rows), but the more there are the longer each SM waits.
constexpr int sending_at_once = 32;

struct SendingTurns {
  unsigned* taken;  // and behind it those that are over; both zero between runs

  __device__ void take() const {
    const unsigned mine =
        __hip_atomic_fetch_add(taken, 1U, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (static_cast<int>(
               mine - __hip_atomic_load(taken + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) >=
           sending_at_once) {
      CALIBRATION_WHILE_WAITING();
    }
  }
  // `turns`: of all WGs in a run.
  __device__ void give(int turns) const {
    if (__hip_atomic_fetch_add(taken + 1, 1U, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) ==
        static_cast<unsigned>(turns) - 1) {
      taken[0] = 0;
      taken[1] = 0;
    }
  }
};

// Of tiles that go to peers in turns. `sent(slice)` when one is there, whosever it is.
template <class Sent>
struct LeavingInTurns {
  const SliceOrder& order;
  const SendingTurns& turns;
  const Sent& sent;

  __device__ bool goes_far(int position) const {
    return order.at(position).destination != order.me;
  }
  __device__ void begins(int position) const {
    if (goes_far(position)) {
      turns.take();
    }
  }
  __device__ void there(int position) const {
    if (goes_far(position)) {
      turns.give((order.gpus - 1) * order.slices_per_destination);
    }
    sent(order.at(position));
  }
};

// A WG's tiles of `order`, each stored in what `to(destination)` says, [source][row of the
// destination][column]; `sent(slice)` by one thread when it is there.
template <int tile_n, class To, class Sent>
__device__ inline void send_tiles(const Product& product, const SliceOrder& order,
                                  const SendingTurns& turns, const To& to, const Sent& sent) {
  const auto work_at = [&](int position) -> TileWork {
    const Slice slice = order.at(position);
    const SlicePlace place = place_of_slice<tile_n>(order, slice, product.n);
    const auto row = static_cast<std::size_t>(order.me * place.rows + place.at_destination.row);
    return {tile_of(product, place.in_all),
            to(slice.destination) + row * static_cast<std::size_t>(product.n) +
                place.at_destination.column,
            position};
  };
  run_tiles<tile_n>(product.n, TilesInTurn<decltype(work_at)>{order.slices(), work_at},
                    LeavingInTurns<Sent>{order, turns, sent});
}

// GEMM + all-to-all.

struct TileSending {
  SliceOrder order;
  PerGpu<bf16_bits> out;  // [source][row of mine][column]
  PerGpu<Flag> flags;     // [source]
  unsigned* counters;     // [destination]
  SendingTurns turns;
  unsigned run;
};

// Tiles are stored straight into the output of their destination.
template <int tile_n>
static __global__ void __launch_bounds__(tile_threads, gemm_occupancy)
    multiply_and_send(CALIBRATION_MATRIX_PARAMETER Product product, TileSending sending) {
  const SliceOrder& order = sending.order;
  send_tiles<tile_n>(
      product, order, sending.turns, [&](int destination) { return sending.out.at[destination]; },
      [&](Slice slice) {
        arrive(sending.counters + slice.destination,
               static_cast<unsigned>(order.slices_per_destination),
               sending.flags.at[slice.destination] + order.me, sending.run);
      });
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
  SendingTurns turns;
  unsigned run;
};

// 8 bf16 are added to `sums`.
__device__ inline void add_word(const uint4& word, float (&sums)[8]) {
  const unsigned pairs[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sums[2 * i] += from_bf16(static_cast<bf16_bits>(pairs[i] & 0xFFFFU));
    sums[2 * i + 1] += from_bf16(static_cast<bf16_bits>(pairs[i] >> 16U));
  }
}

__device__ inline uint4 to_word(const float (&sums)[8]) {
  unsigned pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    pairs[i] = to_bf16(sums[2 * i]) | static_cast<unsigned>(to_bf16(sums[2 * i + 1])) << 16U;
  }
  return {pairs[0], pairs[1], pairs[2], pairs[3]};
}

constexpr int sum_loads = 4;  // of 16 bytes, in flight in a thread that adds up

template <int tile_n>
__device__ inline void sum_tile(const TileReducing& reducing, TilePlace at, int rows, int n) {
  const bf16_bits* parts = reducing.parts.at[reducing.order.me];
  const auto pitch = static_cast<std::size_t>(n);
  constexpr int words = tile_n / 8;  // in a row
  const auto element = [&](int word) {
    return static_cast<std::size_t>(at.row + word / words) * pitch +
           static_cast<std::size_t>(at.column + word % words * 8);
  };
  static_assert(tile_m * words % (sum_loads * threads_per_wg) == 0);
  if (threadIdx.x >= threads_per_wg) {
    return;
  }
  for (int first = static_cast<int>(threadIdx.x); first < tile_m * words;
       first += sum_loads * threads_per_wg) {
    float sums[sum_loads][8] = {};
    for (int source = 0; source < reducing.order.gpus; ++source) {
      const bf16_bits* of_source = parts + static_cast<std::size_t>(source * rows) * pitch;
      uint4 loaded[sum_loads];
#pragma unroll
      for (int l = 0; l < sum_loads; ++l) {
        loaded[l] =
            *reinterpret_cast<const uint4*>(of_source + element(first + l * threads_per_wg));
      }
#pragma unroll
      for (int l = 0; l < sum_loads; ++l) {
        add_word(loaded[l], sums[l]);
      }
    }
#pragma unroll
    for (int l = 0; l < sum_loads; ++l) {
      *reinterpret_cast<uint4*>(reducing.sums + element(first + l * threads_per_wg)) =
          to_word(sums[l]);
    }
  }
}

// Persistent: sends all parts, then sums the tiles it owns as their parts come.
template <int tile_n>
static __global__ void __launch_bounds__(tile_threads, gemm_occupancy)
    multiply_and_reduce(CALIBRATION_MATRIX_PARAMETER Product product, TileReducing reducing) {
  const SliceOrder& order = reducing.order;
  send_tiles<tile_n>(
      product, order, reducing.turns,
      [&](int destination) { return reducing.parts.at[destination]; },
      [&](Slice slice) {
        set_flag(reducing.flags.at[slice.destination] + order.me * order.slices_per_destination +
                     slice.index,
                 reducing.run);
      });
  for (int tile = static_cast<int>(blockIdx.x); tile < order.slices_per_destination;
       tile += static_cast<int>(gridDim.x)) {
    const int source = static_cast<int>(threadIdx.x);
    if (source < order.gpus) {
      wait_for_flag(reducing.flags.at[order.me] + source * order.slices_per_destination + tile,
                    reducing.run);
    }
    __syncthreads();
    const SlicePlace place = place_of_slice<tile_n>(order, {order.me, tile}, product.n);
    sum_tile<tile_n>(reducing, place.at_destination, place.rows, product.n);
    __syncthreads();
  }
}

// All-gather + GEMM: each GPU has `rows` rows of A, and computes C of the rows of all.

// WGs that send begin together, so their chunks end together, and the link has nothing to carry
// until all are fenced: 2 us a chunk on an H100, which large ones hide. But peers wait for the
// first rows; tile_m rows share a flag.
constexpr int least_gather_rows = 8;           // of A, that a WG sends at a time
constexpr int most_gather_rows = tile_m / 2;   // so that two WGs at least bring a tile's rows
constexpr int gather_chunks = 16;              // of a shard, at least: a WG's turn for each
constexpr int most_gather_bytes = 512 * 1024;  // of a chunk
constexpr int gather_loads = 4;                // of 16 bytes, in flight in a thread that sends

inline int gather_rows_of(int rows, int k) {
  int at_once = least_gather_rows;
  while (2 * at_once <= most_gather_rows && 2 * at_once * gather_chunks <= rows &&
         2 * at_once * k * static_cast<int>(sizeof(bf16_bits)) <= most_gather_bytes) {
    at_once *= 2;
  }
  return at_once;
}

struct Gathering {
  int gpus;
  int me;
  int rows;
  int senders;                 // WGs that send A before they multiply
  int rows_at_once;            // that one of them sends before it says so
  Matrix shard;                // my rows
  Matrix rows_of_all;          // [source][row][k]; my own stay in the shard
  PerGpu<bf16_bits> gathered;  // that, at each GPU
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
  const int at_once = gathering.rows_at_once;
  const int chunks = gathering.rows / at_once * others;
  for (int chunk = static_cast<int>(blockIdx.x); chunk < chunks; chunk += gathering.senders) {
    const int to = (gathering.me + 1 + chunk % others) % gathering.gpus;
    const int row = chunk / others * at_once;
    const auto width = static_cast<std::size_t>(k);
    const bf16_bits* from = gathering.shard.at + static_cast<std::size_t>(row) * width;
    bf16_bits* target = gathering.gathered.at[to] +
                        static_cast<std::size_t>(gathering.me * gathering.rows + row) * width;
    send_words(reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(target),
               at_once * k / 8);
    __syncthreads();
    if (threadIdx.x == 0) {
      const int group = row / tile_m;
      arrive(gathering.counters + to * groups + group, static_cast<unsigned>(tile_m / at_once),
             gathering.flags.at[to] + gathering.me * groups + group, gathering.run);
    }
  }
}

// The next tile that no WG has taken. The last WG that finds none left clears the queue.
__device__ inline int take_tile(const Gathering& gathering, int tiles) {
  const auto taken = static_cast<int>(
      __hip_atomic_fetch_add(gathering.queue, 1U, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
  if (taken >= tiles && __hip_atomic_fetch_add(gathering.queue + 1, 1U, __ATOMIC_ACQ_REL,
                                               __HIP_MEMORY_SCOPE_AGENT) == gridDim.x - 1) {
    gathering.queue[0] = 0;
    gathering.queue[1] = 0;
  }
  return taken;
}

// Number `index` of all, of the own rows first, when its rows are there.
template <int tile_n>
__device__ inline TileWork gathered_tile(const Product& product, const Gathering& gathering,
                                         int index) {
  const int across = product.n / tile_n;
  const int groups = gathering.rows / tile_m;
  const int source = (gathering.me + index / (groups * across)) % gathering.gpus;
  const TilePlace at = tile_in_groups<tile_n>(index % (groups * across), groups, across);
  const int row = source * gathering.rows + at.row;
  bf16_bits* out =
      gathering.c + static_cast<std::size_t>(row) * static_cast<std::size_t>(product.n) + at.column;
  const MatrixRef b = ref_of(product.b);
  if (source == gathering.me) {
    return {{ref_of(gathering.shard), at.row, b, at.column, product.k}, out, index};
  }
  wait_for_flag(gathering.flags.at[gathering.me] + source * groups + at.row / tile_m,
                gathering.run);
  fence_before_steps();
  return {{ref_of(gathering.rows_of_all), row, b, at.column, product.k}, out, index};
}

// Persistent. The first `senders` WGs send the shard; all take tiles.
template <int tile_n>
static __global__ void __launch_bounds__(tile_threads, gemm_occupancy)
    gather_and_multiply(CALIBRATION_MATRIX_PARAMETER Product product,
                        CALIBRATION_MATRIX_PARAMETER Gathering gathering) {
  if (static_cast<int>(blockIdx.x) < gathering.senders) {
    send_shard(gathering, product.k);
  }
  const int tiles = gathering.gpus * (gathering.rows / tile_m) * (product.n / tile_n);
  run_tiles<tile_n>(
      product.n,
      [&]() -> TileWork {
        const int index = take_tile(gathering, tiles);
        return index < tiles ? gathered_tile<tile_n>(product, gathering, index) : TileWork{};
      },
      LeavingQuietly{});
}

}  // namespace calibration
