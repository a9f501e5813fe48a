#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "gemm_kernels.h"
#include "operator.h"

// What GEMM + all-to-all and GEMM + reduce-scatter have in common: the matrices on each GPU, and
// the kernel that computes all tiles of C. Rows of C are grouped by GPU.

namespace calibration {

struct GemmShape {
  int m;
  int n;
  int k;

  std::size_t results() const { return elements(m, n); }
  int tiles() const { return m / tile_m * (n / wide_tile_n); }
};

// How a fused kernel runs.
struct GemmFusion {
  Order order;
  int occupancy;
  int wgs = 0;  // as many as fit, of add_fused_gemm
};

class GemmOperator : public Operator<bf16_bits> {
 public:
  GemmOperator(const Bench& bench, const GemmShape& shape, Collective collective,
               std::size_t result_count, Reach reach);

 protected:
  Product product(int gpu) const {
    return product_of(a_[gpu], b_[gpu], shape_.m, shape_.n, shape_.k);
  }
  const GemmShape& shape() const { return shape_; }
  SliceOrder order_of(int gpu, Order order) const {  // a slice is a tile
    return {machine().size(), gpu, shape_.tiles() / machine().size(), order};
  }
  // C of `gpu` at (row, column), computed on the host.
  double expected(int gpu, std::size_t row, std::size_t column) const;
  double tolerance() const;  // of a C that is rounded to bf16

 private:
  void queue_kernel() const override;
  KernelFacts kernel_facts() const override;
  Exchange exchange(const Buffers<bf16_bits>& to) const override;

  GemmShape shape_;
  Collective collective_;
  Buffers<bf16_bits> a_;
  Buffers<bf16_bits> b_;
  Buffers<bf16_bits> c_;
  Grid grid_;
};

GemmShape gemm_shape(const Plan& plan, const GemmShape& usual);  // whole tiles for each GPU
OperatorLine gemm_line(const char* name, const Plan& plan, const GemmShape& shape, int occupancy);

template <class Gemm>
void add_fused_gemm(const char* name, const Plan& plan, const GemmShape& shape,
                    const GemmFusion& usual, Depth depth, Cases& cases) {
  GemmFusion fusion = usual;
  fusion.wgs = std::min(fusion.occupancy * plan.units, shape.tiles());
  const char* part = fusion.order == Order::remote_first  ? "fused"
                     : fusion.order == Order::local_first ? "fused_local_first"
                                                          : "fused_in_turn";
  JsonLine line = gemm_line(name, plan, shape, fusion.occupancy).with_kernel(part);
  line.set("wgs", fusion.wgs);
  cases.push_back(
      {line, depth, [=](const Bench& bench) { return Gemm(bench, shape).fused(fusion); }});
}

// Bulk and fused, of all shapes; the first two are quick.
template <class Gemm>
void add_gemm_shapes(const char* name, const Plan& plan, const std::vector<GemmShape>& shapes,
                     Cases& cases) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const GemmShape shape = gemm_shape(plan, shapes[i]);
    const Depth depth = i < 2 ? Depth::quick : Depth::full;
    add_unfused(
        gemm_line(name, plan, shape, gemm_occupancy), depth,
        [=](const Bench& bench) { return Gemm(bench, shape); }, cases);
    add_fused_gemm<Gemm>(name, plan, shape, {Order::remote_first, gemm_occupancy}, depth, cases);
  }
}

}  // namespace calibration
