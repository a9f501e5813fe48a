#include "gemm_operator.h"

#include <cmath>

namespace calibration {
namespace {

constexpr std::uint32_t a_seed = 500;
constexpr std::uint32_t b_seed = 600;

// Persistent, as the fused kernels are.
__global__ void __launch_bounds__(tile_threads, gemm_occupancy)
    multiply_all(CALIBRATION_MATRIX_PARAMETER Product product, bf16_bits* c) {
  const int down = product.m / tile_m;
  const int across = product.n / wide_tile_n;
  const auto work_at = [&](int index) -> TileWork {
    const TilePlace at = tile_in_groups<wide_tile_n>(index, down, across);
    return {tile_of(product, at),
            c + static_cast<std::size_t>(at.row) * static_cast<std::size_t>(product.n) + at.column,
            index};
  };
  run_tiles<wide_tile_n>(product.n, TilesInTurn<decltype(work_at)>{down * across, work_at},
                         LeavingQuietly{});
}

}  // namespace

GemmOperator::GemmOperator(const Bench& bench, const GemmShape& shape, Collective collective,
                           std::size_t result_count, Reach reach)
    : Operator(bench, result_count, reach),
      shape_(shape),
      collective_(collective),
      a_(machine(), elements(shape.m, shape.k), Reach::local),
      b_(machine(), elements(shape.n, shape.k), Reach::local),
      c_(machine(), shape.results(), Reach::local),
      grid_(
          limit_occupancy(machine(), multiply_all,
                          {.wgs = std::min(gemm_occupancy * machine().gpu(0).units, shape.tiles()),
                           .threads = tile_threads,
                           .shared_bytes = tile_shared_bytes},
                          gemm_occupancy)) {
  for (int g = 0; g < machine().size(); ++g) {
    const Gpu& gpu = machine().gpu(g);
    fill_test_bf16(gpu, a_[g], a_.count(), a_seed + static_cast<unsigned>(g));
    fill_test_bf16(gpu, b_[g], b_.count(), b_seed + static_cast<unsigned>(g));
  }
  machine().synchronize();
}

void GemmOperator::queue_kernel() const {
  for (int g = 0; g < machine().size(); ++g) {
    machine().gpu(g).use();
    launch(multiply_all, grid_, machine().gpu(g).main, product(g), c_[g]);
  }
}

KernelFacts GemmOperator::kernel_facts() const {
  return facts_of(machine().gpu(0), multiply_all, grid_);
}

Exchange GemmOperator::exchange(const Buffers<bf16_bits>& to) const {
  return {.what = collective_,
          .element = Element::bf16,
          .bytes = shape_.results() * sizeof(bf16_bits),
          .from = [&](int g) { return c_[g]; },
          .to = [&](int g) { return to[g]; }};
}

double GemmOperator::expected(int gpu, std::size_t row, std::size_t column) const {
  const auto k = static_cast<std::size_t>(shape_.k);
  const auto rank = static_cast<unsigned>(gpu);
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    sum += static_cast<double>(test_value(a_seed + rank, row * k + i)) *
           static_cast<double>(test_value(b_seed + rank, column * k + i));
  }
  return sum;
}

// Results are about sqrt(k) / 3 and rarely five times that; bf16 keeps 8 bits of them.
double GemmOperator::tolerance() const { return 2.0 * std::sqrt(shape_.k) / 256.0; }

GemmShape gemm_shape(const Plan& plan, const GemmShape& usual) {
  const int unit = plan.gpus * tile_m;
  return {(plan.at_most(usual.m, 256) + unit - 1) / unit * unit, plan.at_most(usual.n, 256),
          plan.at_most(usual.k, 256)};
}

OperatorLine gemm_line(const char* name, const Plan& plan, const GemmShape& shape, int occupancy) {
  return {.operator_name = name,
          .plan = plan,
          .shape = {{"m", shape.m},
                    {"n", shape.n},
                    {"k", shape.k},
                    {"tile_m", tile_m},
                    {"tile_n", wide_tile_n},
                    {"dtype_bytes", 2}},
          .kernel = {{"threads", tile_threads},
                     {"tile_k", tile_k},
                     {"stages", tile_stages},
                     {"group_rows", tile_group_rows},
                     {"occupancy", occupancy}}};
}

}  // namespace calibration
