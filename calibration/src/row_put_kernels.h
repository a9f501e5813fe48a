#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>

#include "buffers.h"
#include "flags.h"
#include "numbers.h"
#include "streaming.h"

// Rows of tokens put one by one to the GPUs of their experts, and home: one kernel each way, built
// as kernels for low latency are (DeepEP's): WGs of nearly all threads an SM or CU takes, a warp
// puts a row, a group of warps stands for an expert. Nothing but these flags orders anything.

namespace calibration {

constexpr int lanes_of_a_row = 32;
constexpr int most_threads = 1024;
constexpr int elements_of_a_scale = 128;
constexpr unsigned flag_step = 1U << 16;  // a flag is run * flag_step + the number of rows

// All lanes of a warp have done what is before it. Under emulation all warps pass it together.
#if defined(CALIBRATION_EMULATION)
#define CALIBRATION_WARP_DONE() __syncthreads()
#elif defined(__HIP_PLATFORM_AMD__)
#define CALIBRATION_WARP_DONE() __builtin_amdgcn_wave_barrier()
#else
#define CALIBRATION_WARP_DONE() __syncwarp()
#endif

struct RowPutShape {
  int gpus;
  int me;
  int tokens;  // of each GPU
  int top_k;
  int experts;     // of all GPUs
  int groups;      // of warps in a WG: experts, or pairs of own expert and peer, that it stands for
  int warps;       // of a group
  unsigned words;  // of 16 B in a token's row of bf16
  unsigned row_words;  // on the way to the experts: a header, the row, its scales
  bool casts;          // to 8 bits, with a scale for each 128

  __host__ __device__ int here() const { return experts / gpus; }  // experts of a GPU
  __host__ __device__ int room() const { return gpus * tokens; }   // rows an expert can get
};

struct Came {  // from a GPU for an expert
  unsigned first;
  unsigned count;
};

struct RowsOut {
  RowPutShape shape;
  const uint4* rows;    // [token]
  const int* chosen;    // [token][top_k]
  uint4* staged;        // [token], as it travels
  unsigned* slots;      // [expert]: rows that warps have begun to put
  unsigned* put;        // [expert]: rows that are on their way
  PerGpu<uint4> inbox;  // [own expert][source][token]
  PerGpu<Flag> flags;   // [own expert][source]
  uint4* packed;        // [own expert][room]
  unsigned* taken;      // [own expert]: rows of `packed`
  Came* came;           // [own expert][source]
  unsigned* passed;     // by WGs: the barrier of the grid
  long long* clocks;    // [WG][part]
  unsigned run;
};

struct RowsHome {
  RowPutShape shape;
  const uint4* made;    // [own expert][room], bf16
  const uint4* packed;  // their headers say whose they are
  const Came* came;
  const int* chosen;
  PerGpu<uint4> inbox;  // [expert][token]
  PerGpu<Flag> flags;   // [expert]
  uint4* sums;          // [token]
  unsigned* passed;
  long long* clocks;
  unsigned run;
};

enum Part { began, rows_put, flags_set, grid_passed, flags_seen, ended, parts };

struct PartClock {
  long long* clocks;
  __device__ void at(Part part) const {
    if (threadIdx.x == 0) {
      clocks[static_cast<int>(blockIdx.x) * parts + part] = clock64();
    }
  }
};

__device__ inline void copy_row(const uint4* from, uint4* to, unsigned words) {
  constexpr unsigned loads = 8;
  unsigned i = threadIdx.x % lanes_of_a_row;
#pragma unroll 1
  for (; i + (loads - 1) * lanes_of_a_row < words; i += loads * lanes_of_a_row) {
    uint4 word[loads];
#pragma unroll
    for (unsigned l = 0; l < loads; ++l) {
      word[l] = load_past_l1(from + i + l * lanes_of_a_row);
    }
#pragma unroll
    for (unsigned l = 0; l < loads; ++l) {
      to[i + l * lanes_of_a_row] = word[l];
    }
  }
#pragma unroll 1
  for (; i < words; i += lanes_of_a_row) {
    to[i] = load_past_l1(from + i);
  }
}

// All WGs of the GPU have come here, and what they stored before is seen by all.
__device__ inline void pass_grid(unsigned* passed, unsigned run) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __hip_atomic_fetch_add(passed, 1U, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(passed, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) <
           run * gridDim.x) {
      CALIBRATION_WHILE_WAITING();
    }
  }
  __syncthreads();
}

// Eight elements of bf16 as eight of 8 bits; 16 lanes have 128 elements, and find their largest.
__device__ inline void cast_word(const uint4& word, int& low, int& high, float& scale) {
  const unsigned halves[4] = {word.x, word.y, word.z, word.w};
  float values[8];
  float most = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = float_of(halves[i] << 16);
    values[2 * i + 1] = float_of(halves[i] & 0xFFFF0000U);
    most = fmaxf(most, fmaxf(fabsf(values[2 * i]), fabsf(values[2 * i + 1])));
  }
#pragma unroll
  for (int other = 1; other < 16; other *= 2) {
    most = fmaxf(most, __shfl_xor(most, other));
  }
  scale = most / 127;
  const float by = most > 0 ? 127 / most : 0;
  unsigned bytes[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    bytes[i / 4] |= (static_cast<unsigned>(static_cast<int>(rintf(values[i] * by))) & 0xFFU)
                    << (i % 4 * 8);
  }
  low = static_cast<int>(bytes[0]);
  high = static_cast<int>(bytes[1]);
}

// A token's row as it travels, by all warps that may put it.
__device__ inline void stage_row(const RowsOut& out, int token) {
  const RowPutShape& shape = out.shape;
  const uint4* row = out.rows + static_cast<std::size_t>(token) * shape.words;
  uint4* staged = out.staged + static_cast<std::size_t>(token) * shape.row_words;
  if (threadIdx.x == 0) {
    staged[0] = make_uint4(static_cast<unsigned>(token), 0, 0, 0);
  }
  auto* cast = reinterpret_cast<int*>(staged + 1);
  auto* scales = reinterpret_cast<float*>(staged + 1 + shape.words / 2);
  for (unsigned first = 0; first < shape.words; first += blockDim.x) {
    const unsigned i = first + threadIdx.x;
    const uint4 word = i < shape.words ? row[i] : make_uint4(0, 0, 0, 0);
    if (!shape.casts) {
      if (i < shape.words) {
        staged[1 + i] = word;
      }
      continue;
    }
    int low = 0;
    int high = 0;
    float scale = 0;
    cast_word(word, low, high, scale);
    if (i < shape.words) {
      cast[2 * i] = low;
      cast[2 * i + 1] = high;
      if (i % (elements_of_a_scale / 8) == 0) {
        scales[i / (elements_of_a_scale / 8)] = scale;
      }
    }
  }
  __syncthreads();
}

// One warp puts the row to the GPU of the token's k-th expert. Called by all warps together.
__device__ inline void put_row(const RowsOut& out, int token, int k, unsigned* slot_of_warp) {
  const RowPutShape& shape = out.shape;
  const bool leads = threadIdx.x % lanes_of_a_row == 0;
  const bool puts = k < shape.top_k;
  const int expert = puts ? out.chosen[token * shape.top_k + k] : 0;
  if (puts && leads) {
    *slot_of_warp =
        __hip_atomic_fetch_add(out.slots + expert, 1U, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  CALIBRATION_WARP_DONE();
  if (puts) {
    const int to = expert / shape.here();
    const int box = expert % shape.here() * shape.gpus + shape.me;
    const std::size_t row =
        static_cast<std::size_t>(box) * static_cast<unsigned>(shape.tokens) + *slot_of_warp;
    copy_row(out.staged + static_cast<std::size_t>(token) * shape.row_words,
             out.inbox.at[to] + row * shape.row_words, shape.row_words);
  }
  CALIBRATION_WARP_DONE();
  if (puts && leads) {
    __hip_atomic_fetch_add(out.put + expert, 1U, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}

// Of each expert that the WG stands for, how many rows there will be.
__device__ inline void count_rows(const RowsOut& out, unsigned* counts) {
  const RowPutShape& shape = out.shape;
  if (threadIdx.x < lanes_of_a_row) {
    counts[threadIdx.x] = 0;
  }
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * shape.groups;
  for (int i = static_cast<int>(threadIdx.x); i < shape.tokens * shape.top_k;
       i += static_cast<int>(blockDim.x)) {
    const int group = out.chosen[i] - first;
    if (group >= 0 && group < shape.groups) {
      atomicAdd(counts + group, 1U);
    }
  }
}

// The first lane of an expert's group: when all rows for it are on their way, its GPU is told.
__device__ inline void tell_expert(const RowsOut& out, int expert, unsigned count) {
  const RowPutShape& shape = out.shape;
  while (__hip_atomic_load(out.put + expert, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < count) {
    CALIBRATION_WHILE_WAITING();
  }
  out.put[expert] = 0;
  out.slots[expert] = 0;
  set_flag(out.flags.at[expert / shape.here()] + expert % shape.here() * shape.gpus + shape.me,
           out.run * flag_step + count);
}

// A group takes what has come from one GPU for one expert of this one.
__device__ inline void take_rows(const RowsOut& out, int pair, int warp, Came* came) {
  const RowPutShape& shape = out.shape;
  const bool takes = pair < shape.experts;
  if (takes && warp == 0 && threadIdx.x % lanes_of_a_row == 0) {
    const Flag* flag = out.flags.at[shape.me] + pair;
    wait_for_flag(flag, out.run * flag_step);
    came->count = CALIBRATION_LOAD_FLAG(flag, __ATOMIC_RELAXED) % flag_step;
    came->first = __hip_atomic_fetch_add(out.taken + pair / shape.gpus, came->count,
                                         __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    out.came[pair] = *came;
  }
  __syncthreads();
  PartClock{out.clocks}.at(flags_seen);
  if (!takes) {
    return;
  }
  const std::size_t box = static_cast<std::size_t>(pair) * static_cast<unsigned>(shape.tokens);
  const std::size_t pack =
      static_cast<std::size_t>(pair / shape.gpus) * static_cast<unsigned>(shape.room()) +
      came->first;
  for (auto i = static_cast<unsigned>(warp); i < came->count;
       i += static_cast<unsigned>(shape.warps)) {
    copy_row(out.inbox.at[shape.me] + (box + i) * shape.row_words,
             out.packed + (pack + i) * shape.row_words, shape.row_words);
  }
}

static __global__ void __launch_bounds__(most_threads, 1) put_rows(RowsOut out) {
  HIP_DYNAMIC_SHARED(unsigned, shared_words)
  const RowPutShape& shape = out.shape;
  const PartClock clock{out.clocks};
  const int warp = static_cast<int>(threadIdx.x) / lanes_of_a_row;
  const int group = warp / shape.warps;
  const int expert = static_cast<int>(blockIdx.x) * shape.groups + group;
  clock.at(began);
  count_rows(out, shared_words + lanes_of_a_row);
  for (int token = static_cast<int>(blockIdx.x); token < shape.tokens;
       token += static_cast<int>(gridDim.x)) {
    stage_row(out, token);
    for (int first = 0; first < shape.top_k; first += shape.groups * shape.warps) {
      put_row(out, token, first + warp, shared_words + warp);
    }
  }
  __syncthreads();
  clock.at(rows_put);
  if (threadIdx.x % static_cast<unsigned>(shape.warps * lanes_of_a_row) == 0 &&
      expert < shape.experts) {
    tell_expert(out, expert, shared_words[lanes_of_a_row + group]);
    if (expert < shape.here()) {
      out.taken[expert] = 0;
    }
  }
  clock.at(flags_set);
  pass_grid(out.passed, out.run);
  clock.at(grid_passed);
  take_rows(out, expert, warp % shape.warps,
            reinterpret_cast<Came*>(shared_words + 2 * lanes_of_a_row) + group);
  __syncthreads();
  clock.at(ended);
}

// One group a pair of own expert and peer: a warp a row, and a flag behind them all.
static __global__ void __launch_bounds__(most_threads, 1) put_rows_home(RowsHome home) {
  const RowPutShape& shape = home.shape;
  const PartClock clock{home.clocks};
  const int warp = static_cast<int>(threadIdx.x) / lanes_of_a_row;
  const int pair = static_cast<int>(blockIdx.x) * shape.groups + warp / shape.warps;
  const bool mine = pair < shape.experts;
  const int expert = shape.me * shape.here() + pair / shape.gpus;
  clock.at(began);
  if (mine) {
    const Came came = home.came[pair];
    const std::size_t first =
        static_cast<std::size_t>(pair / shape.gpus) * static_cast<unsigned>(shape.room()) +
        came.first;
    for (auto i = static_cast<unsigned>(warp % shape.warps); i < came.count;
         i += static_cast<unsigned>(shape.warps)) {
      const unsigned token = home.packed[(first + i) * shape.row_words].x;
      copy_row(
          home.made + (first + i) * shape.words,
          home.inbox.at[pair % shape.gpus] +
              (static_cast<std::size_t>(expert) * static_cast<unsigned>(shape.tokens) + token) *
                  shape.words,
          shape.words);
    }
  }
  __syncthreads();
  clock.at(rows_put);
  const bool leads = mine && threadIdx.x % static_cast<unsigned>(shape.warps * lanes_of_a_row) == 0;
  if (leads) {
    set_flag(home.flags.at[pair % shape.gpus] + expert, home.run);
  }
  clock.at(flags_set);
  if (leads) {
    wait_for_flag(home.flags.at[shape.me] + pair, home.run);  // here: of expert `pair`
  }
  clock.at(flags_seen);
  pass_grid(home.passed, home.run);
  clock.at(grid_passed);
  for (int token = static_cast<int>(blockIdx.x); token < shape.tokens;
       token += static_cast<int>(gridDim.x)) {
    for (unsigned word = threadIdx.x; word < shape.words; word += blockDim.x) {
      float sums[8] = {};
#pragma unroll 8
      for (int k = 0; k < shape.top_k; ++k) {
        const int from = home.chosen[token * shape.top_k + k];
        const std::size_t row =
            static_cast<std::size_t>(from) * static_cast<unsigned>(shape.tokens) +
            static_cast<unsigned>(token);
        const uint4 part = load_past_l1(home.inbox.at[shape.me] + row * shape.words + word);
        const unsigned halves[4] = {part.x, part.y, part.z, part.w};
        const float weight =
            2.0F * static_cast<float>(k + 1) / static_cast<float>(shape.top_k * (shape.top_k + 1));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sums[2 * i] += weight * float_of(halves[i] << 16);
          sums[2 * i + 1] += weight * float_of(halves[i] & 0xFFFF0000U);
        }
      }
      unsigned out[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        out[i] = to_bf16(sums[2 * i]) | static_cast<unsigned>(to_bf16(sums[2 * i + 1])) << 16;
      }
      home.sums[static_cast<std::size_t>(token) * shape.words + word] =
          make_uint4(out[0], out[1], out[2], out[3]);
    }
  }
  __syncthreads();
  clock.at(ended);
}

// What experts would make of the rows: the rows, as bf16. A WG a pair of own expert and source.
static __global__ void cast_back(RowPutShape shape, const uint4* packed, const Came* came,
                                 bf16_bits* made) {
  const int pair = static_cast<int>(blockIdx.x);
  const std::size_t first =
      static_cast<std::size_t>(pair / shape.gpus) * static_cast<unsigned>(shape.room()) +
      came[pair].first;
  for (unsigned i = 0; i < came[pair].count; ++i) {
    const uint4* row = packed + (first + i) * shape.row_words + 1;
    for (unsigned d = threadIdx.x; d < shape.words * 8; d += blockDim.x) {
      const auto* scales = reinterpret_cast<const float*>(row + shape.words / 2);
      made[(first + i) * shape.words * 8 + d] =
          shape.casts ? to_bf16(static_cast<float>(reinterpret_cast<const std::int8_t*>(row)[d]) *
                                scales[d / elements_of_a_scale])
                      : reinterpret_cast<const bf16_bits*>(row)[d];
    }
  }
}

}  // namespace calibration
