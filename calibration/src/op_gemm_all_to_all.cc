// GEMM + all-to-all: rows of C are grouped by the GPU they are for.

#include "gemm_operator.h"

namespace calibration {
namespace {

class GemmAllToAll final : public GemmOperator {
 public:
  GemmAllToAll(const Bench& bench, const GemmShape& shape)
      : GemmOperator(bench, shape, Collective::all_to_all, shape.results(), Reach::peers) {}

  Measured fused(const GemmFusion& fusion) const {
    const auto gpus = static_cast<std::size_t>(machine().size());
    const Buffers<Flag> flags(machine(), gpus, Reach::peers);
    const Buffers<unsigned> counters(machine(), gpus + 2, Reach::local);
    flags.fill_bytes(0);
    counters.fill_bytes(0);
    const Grid grid = persistent_grid(
        machine(), multiply_and_send<wide_tile_n>,
        {.wgs = fusion.wgs, .threads = tile_threads, .shared_bytes = tile_shared_bytes},
        fusion.occupancy);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine().size(); ++g) {
        machine().gpu(g).use();
        launch(multiply_and_send<wide_tile_n>, grid, machine().gpu(g).main, product(g),
               TileSending{order_of(g, fusion.order),
                           results().all(),
                           flags.all(),
                           counters[g],
                           {counters[g] + gpus},
                           run});
      }
    };
    return time_fused({.queue = queue,
                       .what = "fused GEMM + all-to-all",
                       .kernel = facts_of(machine().gpu(0), multiply_and_send<wide_tile_n>, grid)});
  }

 private:
  // One element of each block that each GPU got.
  void verify() const override {
    const auto gpus = static_cast<std::size_t>(machine().size());
    const auto n = static_cast<std::size_t>(shape().n);
    const std::size_t rows = static_cast<std::size_t>(shape().m) / gpus;
    for (std::size_t to = 0; to < gpus; ++to) {
      for (std::size_t source = 0; source < gpus; ++source) {
        const std::size_t row = mixed(8, to * gpus + source) % rows;
        const std::size_t column = mixed(9, to * gpus + source) % n;
        expect_close_bf16(machine().gpu(static_cast<int>(to)), results()[static_cast<int>(to)],
                          (source * rows + row) * n + column,
                          expected(static_cast<int>(source), to * rows + row, column), tolerance(),
                          "GEMM + all-to-all");
      }
    }
  }
};

}  // namespace

void add_gemm_all_to_all(const Plan& plan, Cases& cases) {
  constexpr const char* name = "gemm";
  const std::vector<GemmShape> shapes = {{1024, 1024, 1024}, {2048, 4096, 4096},
                                         {4096, 1024, 4096}, {8192, 1024, 1024},
                                         {8192, 4096, 1024}, {4096, 4096, 14336}};
  add_gemm_shapes<GemmAllToAll>(name, plan, shapes, cases);
  const GemmShape shape = gemm_shape(plan, shapes[4]);
  for (const Order order : {Order::local_first, Order::in_turn}) {
    add_fused_gemm<GemmAllToAll>(name, plan, shape, {order, gemm_occupancy}, Depth::full, cases);
  }
  if constexpr (gemm_occupancy > 1) {
    add_fused_gemm<GemmAllToAll>(name, plan, shape, {Order::remote_first, 1}, Depth::full, cases);
  }
}

}  // namespace calibration
