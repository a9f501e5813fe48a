#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstddef>

#include "gemm_matrix.h"
#include "kernels.h"
#include "numbers.h"

// Tiles of C = A B^T in bf16, one by a WG, of which 256 threads multiply: 128 rows and `tile_n`
// columns. The same work bulk and fused.
//
//   CALIBRATION_WGMMA (NVIDIA, for sm_90a): 256 or 128 columns; wgmma; up to 800 TFLOP/s on an H100
//
//   other NVIDIA: 128 columns; mma.m16n8k16, a third of the library's rate on an H100
//
//   AMD: 128 columns; v_mfma_f32_32x32x8_bf16
//
// A WG has `tile_threads` threads and makes one tile after another:
//
//   run_tiles<tile_n>(pitch, next, leaving);   // by all threads
//
// One thread calls `next()`, which says what the next tile is and may wait for its rows (then
// fence_before_steps()). Of a tile that leaves for its place, one thread calls
//   leaving.begins(number)   which may wait
//   leaving.there(number)    for whoever acquires what this releases

namespace calibration {

constexpr int tile_m = 128;
constexpr int tile_group_rows = 8;  // rows of tiles that are walked column by column

struct TilePlace {
  int row;
  int column;
};

// `row`... of A times `column`... of B, which are a kernel's parameter.
struct Tile {
  MatrixRef a;
  int row;
  MatrixRef b;
  int column;
  int k;
};

// A tile, the place of its first element, and the number that others know it by. No place: there
// are no more tiles.
struct TileWork {
  Tile tile;
  bf16_bits* out;
  int number;
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
  return {ref_of(product.a), at.row, ref_of(product.b), at.column, product.k};
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

// Nothing is told of tiles.
struct LeavingQuietly {
  __device__ void begins(int /*number*/) const {}
  __device__ void there(int /*number*/) const {}
};

// The numbers of a WG's tiles among `tiles`, the persistent grid's in turn, as `next` of run_tiles:
// `work_at(number)` says what number i is.
template <class WorkAt>
struct TilesInTurn {
  int tiles;
  WorkAt work_at;
  int number = static_cast<int>(blockIdx.x);

  __device__ TileWork operator()() {
    const int now = number;
    number += static_cast<int>(gridDim.x);
    return now < tiles ? work_at(now) : TileWork{};
  }
};

}  // namespace calibration
