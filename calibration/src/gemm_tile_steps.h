#pragma once

#include "gemm_tile.h"

// The tile of 128 x 128 elsewhere, in steps of 32 along k.
//
// NVIDIA: four stages of shared memory filled by asynchronous copies, mma.m16n8k16.
// AMD: the next step waits in registers, v_mfma_f32_32x32x8_bf16.

namespace calibration {

constexpr int narrow_tile_n = 128;
constexpr int wide_tile_n = 128;   // there is no other
constexpr int gemm_occupancy = 2;  // WGs on an SM or CU
constexpr int tile_threads = threads_per_wg;
constexpr int tile_k = 32;

using Sums = TileSums<narrow_tile_n>;
constexpr int accumulators = Sums::count;

#if defined(__CUDACC__)
constexpr int tile_stages = 4;
#else
constexpr int tile_stages = 1;
#endif
constexpr int step_pitch = tile_k + 8;  // elements; keeps the rows that are read at once in
                                        // different banks
constexpr int stage_elements = (tile_m + narrow_tile_n) * step_pitch;
constexpr std::size_t tile_shared_bytes = std::max<std::size_t>(
    tile_stages * stage_elements * sizeof(bf16_bits), tile_m* narrow_tile_n * sizeof(bf16_bits));

__device__ inline bf16_bits* tile_shared() {
  HIP_DYNAMIC_SHARED(uint4, shared)
  return reinterpret_cast<bf16_bits*>(shared);
}

// A step's 256 rows (128 of A, then 128 of B) are 1024 words of 16 bytes; a thread brings 4.
constexpr int words_per_thread = (tile_m + narrow_tile_n) * tile_k * 2 / 16 / threads_per_wg;

__device__ inline const uint4* step_source(const Tile& tile, int k, int word) {
  const int row = word / 4;
  const int column = k + word % 4 * 8;
  const auto pitch = static_cast<std::size_t>(tile.k);
  const bf16_bits* from =
      row < tile_m ? tile.a.at + static_cast<std::size_t>(tile.row + row) * pitch
                   : tile.b.at + static_cast<std::size_t>(tile.column + row - tile_m) * pitch;
  return reinterpret_cast<const uint4*>(from + column);
}

__device__ inline int step_target(int word) { return word / 4 * step_pitch + word % 4 * 8; }

#if defined(__CUDACC__)

// 8 warps, 2 x 4, of 64 x 32 each: 4 x 4 products of 16 x 8.
__device__ inline TilePlace place_of(int i) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {warp / 4 * 64 + i / 16 * 16 + lane / 4 + i % 4 / 2 * 8,
          warp % 4 * 32 + i / 4 % 4 * 8 + lane % 4 * 2 + i % 2};
}

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline void load_matrices(unsigned (&words)[4], const bf16_bits* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(from)));
}

__device__ inline void multiply_step(const bf16_bits* stage, float (&sums)[accumulators]) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bf16_bits* a_rows = stage + (warp / 4 * 64 + lane % 16) * step_pitch + lane / 16 * 8;
  const bf16_bits* b_rows =
      stage + (tile_m + warp % 4 * 32 + lane / 16 * 8 + lane % 8) * step_pitch + lane / 8 % 2 * 8;
#pragma unroll
  for (int k = 0; k < tile_k; k += 16) {
    unsigned a[4][4];
    unsigned b[2][4];  // each two blocks of 8 columns: k 0..7 and 8..15 of both
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      load_matrices(a[i], a_rows + i * 16 * step_pitch + k);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      load_matrices(b[j], b_rows + j * 16 * step_pitch + k);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float* sum = sums + i * 16 + j * 4;
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j / 2][j % 2 * 2]),
              "r"(b[j / 2][j % 2 * 2 + 1]));
      }
    }
  }
}

__device__ inline void bring_step(const Tile& tile, int k, bf16_bits* stage) {
#pragma unroll
  for (int w = 0; w < words_per_thread; ++w) {
    const int word = static_cast<int>(threadIdx.x) + w * threads_per_wg;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     shared_address(stage + step_target(word))),
                 "l"(step_source(tile, k, word)));
  }
}

__device__ inline void add_product(const Tile& tile, float (&sums)[accumulators]) {
  bf16_bits* shared = tile_shared();
  const int steps = tile.k / tile_k;
  for (int step = 0; step < tile_stages - 1; ++step) {
    if (step < steps) {
      bring_step(tile, step * tile_k, shared + step * stage_elements);
    }
    asm volatile("cp.async.commit_group;");
  }
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(tile_stages - 2));
    __syncthreads();
    const int ahead = step + tile_stages - 1;
    if (ahead < steps) {
      bring_step(tile, ahead * tile_k, shared + ahead % tile_stages * stage_elements);
    }
    asm volatile("cp.async.commit_group;");
    multiply_step(shared + step % tile_stages * stage_elements, sums);
  }
  __syncthreads();
}

#else

#if defined(CALIBRATION_EMULATION)

// Threads as a grid of 16 x 16, 8 x 8 results each.
__device__ inline TilePlace place_of(int i) {
  const int thread = static_cast<int>(threadIdx.x);
  return {thread / 16 * 8 + i / 8, thread % 16 * 8 + i % 8};
}

__device__ inline void multiply_step(const bf16_bits* stage, float (&sums)[accumulators]) {
  for (int i = 0; i < accumulators; ++i) {
    const TilePlace place = place_of(i);
    for (int k = 0; k < tile_k; ++k) {
      sums[i] += from_bf16(stage[place.row * step_pitch + k]) *
                 from_bf16(stage[(tile_m + place.column) * step_pitch + k]);
    }
  }
}

#else

using Sums16 = __attribute__((__vector_size__(16 * sizeof(float)))) float;
using Bf16x4 = __attribute__((__vector_size__(4 * sizeof(short)))) short;

// 4 waves, 2 x 2, of 64 x 64 each: 2 x 2 products of 32 x 32.
__device__ inline TilePlace place_of(int i) {
  const int wave = static_cast<int>(threadIdx.x) / 64;
  const int lane = static_cast<int>(threadIdx.x) % 64;
  return {wave / 2 * 64 + i / 32 * 32 + i % 16 / 4 * 8 + lane / 32 * 4 + i % 4,
          wave % 2 * 64 + i / 16 % 2 * 32 + lane % 32};
}

__device__ inline void multiply_step(const bf16_bits* stage, float (&sums)[accumulators]) {
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || defined(__gfx950__)
  const int wave = static_cast<int>(threadIdx.x) / 64;
  const int lane = static_cast<int>(threadIdx.x) % 64;
  const bf16_bits* a_row = stage + (wave / 2 * 64 + lane % 32) * step_pitch + lane / 32 * 4;
  const bf16_bits* b_row =
      stage + (tile_m + wave % 2 * 64 + lane % 32) * step_pitch + lane / 32 * 4;
#pragma unroll
  for (int k = 0; k < tile_k; k += 8) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Bf16x4 a = *reinterpret_cast<const Bf16x4*>(a_row + i * 32 * step_pitch + k);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const Bf16x4 b = *reinterpret_cast<const Bf16x4*>(b_row + j * 32 * step_pitch + k);
        Sums16& sum = reinterpret_cast<Sums16*>(sums)[i * 2 + j];
        sum = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, sum, 0, 0, 0);
      }
    }
  }
#else
  static_cast<void>(stage);
  static_cast<void>(sums);
#if defined(__HIP_DEVICE_COMPILE__)
#error "the GEMM tile is written for CDNA 2 and later"
#endif
#endif
}

#endif

__device__ inline void add_product(const Tile& tile, float (&sums)[accumulators]) {
  bf16_bits* shared = tile_shared();
  const int thread = static_cast<int>(threadIdx.x);
  uint4 next[words_per_thread];
  for (int w = 0; w < words_per_thread; ++w) {
    next[w] = *step_source(tile, 0, thread + w * threads_per_wg);
  }
  for (int k = 0; k < tile.k; k += tile_k) {
#pragma unroll
    for (int w = 0; w < words_per_thread; ++w) {
      *reinterpret_cast<uint4*>(shared + step_target(thread + w * threads_per_wg)) = next[w];
    }
    __syncthreads();
    if (k + tile_k < tile.k) {
#pragma unroll
      for (int w = 0; w < words_per_thread; ++w) {
        next[w] = *step_source(tile, k + tile_k, thread + w * threads_per_wg);
      }
    }
    multiply_step(shared, sums);
    __syncthreads();
  }
}

#endif

// Peers' rows are read as any others.
__device__ inline void fence_before_steps() {}

__device__ inline void store_tile(const Sums& sums, bf16_bits* out, int pitch) {
  bf16_bits* shared = tile_shared();
#pragma unroll
  for (int i = 0; i < accumulators; ++i) {
    const TilePlace place = place_of(i);
    shared[place.row * narrow_tile_n + place.column] = to_bf16(sums.at[i]);
  }
  __syncthreads();
  constexpr int words = narrow_tile_n / 8;  // 16 bytes each, in a row
  for (int i = static_cast<int>(threadIdx.x); i < tile_m * words; i += threads_per_wg) {
    const int row = i / words;
    const int column = i % words * 8;
    *reinterpret_cast<uint4*>(
        out + static_cast<std::size_t>(row) * static_cast<std::size_t>(pitch) + column) =
        *reinterpret_cast<const uint4*>(shared + row * narrow_tile_n + column);
  }
  __syncthreads();
}

// All threads store, so a WG computes nothing meanwhile, and none waits for its turn.
template <int tile_n, class Next, class Leaving>
__device__ inline void run_tiles(int pitch, Next next, const Leaving& leaving) {
  for (;;) {
    auto& told = *reinterpret_cast<TileWork*>(tile_shared());
    if (threadIdx.x == 0) {
      told = next();
    }
    __syncthreads();
    const TileWork work = told;
    __syncthreads();
    if (work.out == nullptr) {
      return;
    }
    Sums sums;
#pragma unroll
    for (float& sum : sums.at) {
      sum = 0;
    }
    add_product(work.tile, sums.at);
    store_tile(sums, work.out, pitch);
    if (threadIdx.x == 0) {
      leaving.there(work.number);
    }
  }
}

}  // namespace calibration
