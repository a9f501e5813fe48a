// GEMM + reduce-scatter: k is spread over the GPUs, so that each computes a part of every element
// of C; each GPU gets the sums of its share of the rows. Parts travel as bf16, as the library's do.

#include <cmath>

#include "gemm_operator.h"

namespace calibration {
namespace {

class GemmReduceScatter final : public GemmOperator {
 public:
  GemmReduceScatter(const Bench& bench, const GemmShape& shape)
      : GemmOperator(bench, shape, Collective::reduce_scatter,
                     shape.results() / bench.machine.gpus().size(), Reach::local) {}

  Measured fused(const GemmFusion& fusion) const {
    const Buffers<bf16_bits> parts(machine(), shape().results(), Reach::peers);
    const Buffers<Flag> flags(machine(), static_cast<std::size_t>(shape().tiles()), Reach::peers);
    const Buffers<unsigned> turns(machine(), 2, Reach::local);
    flags.fill_bytes(0);
    turns.fill_bytes(0);
    const Grid grid = persistent_grid(
        machine(), multiply_and_reduce<wide_tile_n>,
        {.wgs = fusion.wgs, .threads = tile_threads, .shared_bytes = tile_shared_bytes},
        fusion.occupancy);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine().size(); ++g) {
        machine().gpu(g).use();
        launch(multiply_and_reduce<wide_tile_n>, grid, machine().gpu(g).main, product(g),
               TileReducing{order_of(g, fusion.order),
                            parts.all(),
                            flags.all(),
                            results()[g],
                            {turns[g]},
                            run});
      }
    };
    // The library rounds to bf16 after each part, in an order of its own.
    return time_fused(
        {.queue = queue,
         .clear = [&] { parts.fill_bytes(0xFF); },
         .tolerance = static_cast<float>(sum_tolerance()),
         .what = "fused GEMM + reduce-scatter",
         .kernel = facts_of(machine().gpu(0), multiply_and_reduce<wide_tile_n>, grid)});
  }

 private:
  // A rounding for each part and one for each partial sum.
  double sum_tolerance() const {
    return 2.0 * tolerance() * std::sqrt(static_cast<double>(machine().size()));
  }

  void verify() const override {
    const auto n = static_cast<std::size_t>(shape().n);
    const std::size_t rows = results().count() / n;
    for (int owner = 0; owner < machine().size(); ++owner) {
      const std::size_t row = mixed(8, static_cast<std::size_t>(owner)) % rows;
      const std::size_t column = mixed(9, static_cast<std::size_t>(owner)) % n;
      double sum = 0;
      for (int g = 0; g < machine().size(); ++g) {
        sum += expected(g, static_cast<std::size_t>(owner) * rows + row, column);
      }
      expect_close_bf16(machine().gpu(owner), results()[owner], row * n + column, sum,
                        sum_tolerance(), "GEMM + reduce-scatter");
    }
  }
};

}  // namespace

void add_gemm_reduce_scatter(const Plan& plan, Cases& cases) {
  constexpr const char* name = "gemm_rs";
  const std::vector<GemmShape> shapes = {{1024, 1024, 1024},
                                         {4096, 4096, 1024},
                                         {8192, 1024, 1024},
                                         {8192, 4096, 1024},
                                         {4096, 4096, 3584}};
  add_gemm_shapes<GemmReduceScatter>(name, plan, shapes, cases);
  for (const Order order : {Order::local_first, Order::in_turn}) {
    add_fused_gemm<GemmReduceScatter>(name, plan, gemm_shape(plan, shapes[1]),
                                      {order, gemm_occupancy}, Depth::full, cases);
  }
}

}  // namespace calibration
