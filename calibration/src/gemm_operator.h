#pragma once

#include <cstddef>

#include "buffers.h"
#include "data.h"
#include "gemm_tile.h"
#include "suite.h"

// What GEMM + all-to-all and GEMM + reduce-scatter have in common: the matrices on each GPU, and
// the kernel that computes all tiles of C, one WG a tile.

namespace calibration {

constexpr int gemm_occupancy = 2;  // WGs on an SM or CU

struct GemmShape {
  int m;
  int n;
  int k;

  std::size_t results() const { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); }
  int tiles() const { return m / tile_m * (n / tile_n); }
};

class GemmOnAll {
 public:
  GemmOnAll(const Machine& machine, const GemmShape& shape);

  void queue() const;  // C on every GPU
  Product product(int gpu) const { return {a_[gpu], b_[gpu], shape_.n, shape_.k}; }
  const Buffers<bf16_bits>& c() const { return c_; }
  const GemmShape& shape() const { return shape_; }
  // C of `gpu` at (row, column), computed on the host.
  double expected(int gpu, std::size_t row, std::size_t column) const;
  double tolerance() const;  // of a C that is rounded to bf16

 private:
  const Machine& machine_;
  GemmShape shape_;
  Buffers<bf16_bits> a_;
  Buffers<bf16_bits> b_;
  Buffers<bf16_bits> c_;
  Grid grid_;
};

// Rows of C for each GPU, rounded up to whole tiles for each.
int rows_in_tiles(int m, int gpus);

JsonLine gemm_line(const char* kind, const Plan& plan, const GemmShape& shape);

}  // namespace calibration
