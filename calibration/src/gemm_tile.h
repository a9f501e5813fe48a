#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstddef>

#include "kernels.h"
#include "numbers.h"

// Tiles of C = A B^T in bf16, one by a WG of 256 threads: 128 rows and `tile_n` columns. The same
// work bulk and fused.
//
//   CALIBRATION_WGMMA (NVIDIA, for sm_90a): 256 or 128 columns; wgmma; up to 800 TFLOP/s on an H100
//   other NVIDIA: 128 columns; mma.m16n8k16, a third of the library's rate on an H100 AMD: 128
//   columns; v_mfma_f32_32x32x8_bf16
//
// A WG has `tile_threads` threads and makes one tile after another:
//
//   TilePipeline<tile_n> pipeline;   // by all threads
//   if (pipeline.sends()) {          // where a warp of its own stores tiles
//     pipeline.send_all(sent);
//   } else {
//     pipeline.begin(first);
//     for (...) {
//       pipeline.multiply(tile, sums);
//       pipeline.begin(next);        // its first steps come while the last tile is stored
//       pipeline.store(sums, out, pitch, number, sent);
//     }
//     pipeline.end();
//   }
//
// `sent(number)` is called by one thread when the tile is at `out`, for whoever acquires what it
// releases. tile_note() is the WG's own between `multiply` and `store`, and barrier() for those
// that make tiles.

namespace calibration {

constexpr int tile_m = 128;
constexpr int tile_group_rows = 8;  // rows of tiles that are walked column by column

struct TilePlace {
  int row;
  int column;
};

struct Matrix;  // the platform's

// `row`... of A times `column`... of B, which are a kernel's parameter.
struct Tile {
  const Matrix* a;
  int row;
  const Matrix* b;
  int column;
  int k;
};

// Sums of a tile, as its thread has them; where they are in the tile is the platform's.
template <int tile_n>
struct TileSums {
  static constexpr int count = tile_m * tile_n / threads_per_wg;
  alignas(64) float at[count];
};

}  // namespace calibration

#if defined(CALIBRATION_WGMMA)
#include "gemm_tile_wgmma.h"
#else
#include "gemm_tile_steps.h"
#endif

namespace calibration {

// A is m x k, B n x k, in rows. A kernel's parameter of this type is a
// CALIBRATION_MATRIX_PARAMETER.
struct Product {
  Matrix a;
  Matrix b;
  int m;
  int n;
  int k;
};

inline Product product_of(const bf16_bits* a, const bf16_bits* b, int m, int n, int k) {
  return {matrix_of(a, m, k), matrix_of(b, n, k), m, n, k};
}

__device__ inline Tile tile_of(const Product& product, TilePlace at) {
  return {&product.a, at.row, &product.b, at.column, product.k};
}

// Tile `index` of `down` x `across`: columns of 8 rows, so that tiles made at the same time share
// rows of A and B in the L2.
template <int tile_n>
__device__ inline TilePlace tile_in_groups(int index, int down, int across) {
  constexpr int group = tile_group_rows;
  const int first = index / (group * across) * group;
  const int height = down - first < group ? down - first : group;
  const int within = index % (group * across);
  return {(first + within % height) * tile_m, within / height * tile_n};
}

// A WG's tiles of `tiles`, the persistent grid's in turn: number i is `tile_at(i)`, stored at
// `out_at(i)`; `sent(i)` by one thread when it is there.
template <int tile_n, class TileAt, class OutAt, class Sent>
__device__ inline void make_tiles(int tiles, int pitch, const TileAt& tile_at, const OutAt& out_at,
                                  const Sent& sent) {
  TilePipeline<tile_n> pipeline;
  if (pipeline.sends()) {
    pipeline.send_all(sent);
    return;
  }
  const int step = static_cast<int>(gridDim.x);
  int number = static_cast<int>(blockIdx.x);
  if (number < tiles) {
    pipeline.begin(tile_at(number));
  }
  for (; number < tiles; number += step) {
    TileSums<tile_n> sums;
    pipeline.multiply(tile_at(number), sums);
    if (number + step < tiles) {
      pipeline.begin(tile_at(number + step));
    }
    pipeline.store(sums, out_at(number), pitch, number, sent);
  }
  pipeline.end();
}

}  // namespace calibration
