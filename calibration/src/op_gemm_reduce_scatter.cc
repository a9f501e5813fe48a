// GEMM + reduce-scatter: k is spread over the GPUs, so that each computes a part of every element
// of C; each GPU gets the sums of its share of the rows. Parts travel as bf16, as the library's do.

#include <cmath>

#include "flags.h"
#include "gemm_operator.h"

namespace calibration {
namespace {

struct Reducing {
  SliceOrder order;
  PerGpu<bf16_bits> parts;  // [source][row of mine][column], at the owner
  PerGpu<Flag> flags;       // [source][tile of mine]
  bf16_bits* sums;          // [row of mine][column]
  unsigned run;
};

__device__ void send_parts(const Product& product, const Reducing& reducing) {
  const SliceOrder& order = reducing.order;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    send_tile(product, order, slice, reducing.parts.at[slice.destination]);
    if (threadIdx.x == 0) {
      set_flag(reducing.flags.at[slice.destination] + order.me * order.slices_per_destination +
                   slice.index,
               reducing.run);
    }
  }
}

__device__ unsigned add_pairs(const unsigned* words, int count) {
  float low = 0;
  float high = 0;
  for (int i = 0; i < count; ++i) {
    low += from_bf16(static_cast<bf16_bits>(words[i] & 0xFFFFU));
    high += from_bf16(static_cast<bf16_bits>(words[i] >> 16U));
  }
  return to_bf16(low) | static_cast<unsigned>(to_bf16(high)) << 16U;
}

__device__ void sum_tile(const Reducing& reducing, TilePlace at, int rows, int n) {
  const int gpus = reducing.order.gpus;
  const bf16_bits* parts = reducing.parts.at[reducing.order.me];
  const auto pitch = static_cast<std::size_t>(n);
  constexpr int words = tile_n / 2;  // pairs of elements in a row
  for (int i = static_cast<int>(threadIdx.x); i < tile_m * words; i += threads_per_wg) {
    const std::size_t element = static_cast<std::size_t>(at.row + i / words) * pitch +
                                static_cast<std::size_t>(at.column + i % words * 2);
    unsigned pairs[gpus_max];
    for (int source = 0; source < gpus; ++source) {
      pairs[source] = *reinterpret_cast<const unsigned*>(
          parts + static_cast<std::size_t>(source * rows) * pitch + element);
    }
    *reinterpret_cast<unsigned*>(reducing.sums + element) = add_pairs(pairs, gpus);
  }
}

// Persistent: sends all parts, then sums the tiles it owns as their parts come.
__global__ void __launch_bounds__(threads_per_wg, gemm_occupancy)
    multiply_and_reduce(Product product, Reducing reducing) {
  const SliceOrder& order = reducing.order;
  send_parts(product, reducing);
  for (int tile = static_cast<int>(blockIdx.x); tile < order.slices_per_destination;
       tile += static_cast<int>(gridDim.x)) {
    const int source = static_cast<int>(threadIdx.x);
    if (source < order.gpus) {
      wait_for_flag(reducing.flags.at[order.me] + source * order.slices_per_destination + tile,
                    reducing.run);
    }
    __syncthreads();
    const SlicePlace place = place_of_slice(order, {order.me, tile}, product.n);
    sum_tile(reducing, place.at_destination, place.rows, product.n);
    __syncthreads();
  }
}

class GemmReduceScatter final : public GemmOperator {
 public:
  GemmReduceScatter(const Bench& bench, const GemmShape& shape)
      : GemmOperator(bench, shape, Collective::reduce_scatter,
                     shape.results() / bench.machine.gpus().size(), Reach::local) {}

  Measured fused(const GemmFusion& fusion) const {
    const Buffers<bf16_bits> parts(machine(), shape().results(), Reach::peers);
    const Buffers<Flag> flags(machine(), static_cast<std::size_t>(shape().tiles()), Reach::peers);
    flags.fill_bytes(0);
    const Grid grid =
        persistent_grid(machine(), multiply_and_reduce,
                        {.wgs = fusion.wgs, .shared_bytes = tile_shared_bytes}, fusion.occupancy);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine().size(); ++g) {
        machine().gpu(g).use();
        launch(multiply_and_reduce, grid, machine().gpu(g).main, product(g),
               Reducing{order_of(g, fusion.order), parts.all(), flags.all(), results()[g], run});
      }
    };
    // The library rounds to bf16 after each part, in an order of its own.
    return time_fused({.queue = queue,
                       .clear = [&] { parts.fill_bytes(0xFF); },
                       .tolerance = static_cast<float>(sum_tolerance()),
                       .what = "fused GEMM + reduce-scatter",
                       .kernel = facts_of(machine().gpu(0), multiply_and_reduce, grid)});
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
  add_fused_gemm<GemmReduceScatter>(name, plan, gemm_shape(plan, shapes[1]),
                                    {Order::local_first, gemm_occupancy}, Depth::full, cases);
}

}  // namespace calibration
