#include "gemm_operator.h"

#include <cmath>

namespace calibration {
namespace {

constexpr std::uint32_t a_seed = 500;
constexpr std::uint32_t b_seed = 600;

__global__ void __launch_bounds__(threads_per_wg, gemm_occupancy)
    multiply_all(Product product, bf16_bits* c) {
  const int across = product.n / tile_n;
  const int tile = static_cast<int>(blockIdx.x);
  const TilePlace at{tile / across * tile_m, tile % across * tile_n};
  make_tile(product, at,
            c + static_cast<std::size_t>(at.row) * static_cast<std::size_t>(product.n) + at.column,
            product.n);
}

}  // namespace

GemmOnAll::GemmOnAll(const Machine& machine, const GemmShape& shape)
    : machine_(machine),
      shape_(shape),
      a_(machine, static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.k),
         Reach::local),
      b_(machine, static_cast<std::size_t>(shape.n) * static_cast<std::size_t>(shape.k),
         Reach::local),
      c_(machine, shape.results(), Reach::local),
      grid_(limit_occupancy(machine, multiply_all,
                            {.wgs = shape.tiles(), .shared_bytes = tile_shared_bytes},
                            gemm_occupancy)) {
  for (int g = 0; g < machine.size(); ++g) {
    const Gpu& gpu = machine.gpu(g);
    fill_test_bf16(gpu, a_[g], a_.count(), a_seed + static_cast<unsigned>(g));
    fill_test_bf16(gpu, b_[g], b_.count(), b_seed + static_cast<unsigned>(g));
  }
  machine.synchronize();
}

void GemmOnAll::queue() const {
  for (int g = 0; g < machine_.size(); ++g) {
    machine_.gpu(g).use();
    launch(multiply_all, grid_, machine_.gpu(g).main, product(g), c_[g]);
  }
}

double GemmOnAll::expected(int gpu, std::size_t row, std::size_t column) const {
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
double GemmOnAll::tolerance() const { return 2.0 * std::sqrt(shape_.k) / 256.0; }

int rows_in_tiles(int m, int gpus) {
  const int unit = gpus * tile_m;
  return (m + unit - 1) / unit * unit;
}

JsonLine gemm_line(const char* kind, const Plan& plan, const GemmShape& shape) {
  JsonLine line = line_of(kind, plan);
  line.set("m", shape.m)
      .set("n", shape.n)
      .set("k", shape.k)
      .set("tile_m", tile_m)
      .set("tile_n", tile_n)
      .set("dtype_bytes", 2);
  return line;
}

}  // namespace calibration
