// GEMM + reduce-scatter: k is spread over the GPUs, so that each computes a part of every element
// of C; each GPU gets the sums of its share of the rows. Parts travel as bf16, as the library's do.

#include <algorithm>
#include <cmath>

#include "collectives.h"
#include "flags.h"
#include "gemm_operator.h"
#include "slices.h"

namespace calibration {
namespace {

struct Reducing {
  SliceOrder order;         // a slice is a tile
  PerGpu<bf16_bits> parts;  // [source][row of mine][column], at the owner
  PerGpu<Flag> flags;       // [source][tile of mine]
  bf16_bits* sums;          // [row of mine][column]
  unsigned run;
};

__device__ void send_parts(const Product& product, const Reducing& reducing, int across) {
  const SliceOrder& order = reducing.order;
  const int rows = order.slices_per_destination / across * tile_m;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    const int row = slice.index / across * tile_m;
    const int column = slice.index % across * tile_n;
    bf16_bits* out =
        reducing.parts.at[slice.destination] +
        static_cast<std::size_t>(order.me * rows + row) * static_cast<std::size_t>(product.n) +
        column;
    make_tile(product, {slice.destination * rows + row, column}, out, product.n);
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
  const int across = product.n / tile_n;
  const int rows = order.slices_per_destination / across * tile_m;
  send_parts(product, reducing, across);
  for (int tile = static_cast<int>(blockIdx.x); tile < order.slices_per_destination;
       tile += static_cast<int>(gridDim.x)) {
    const int source = static_cast<int>(threadIdx.x);
    if (source < order.gpus) {
      wait_for_flag(reducing.flags.at[order.me] + source * order.slices_per_destination + tile,
                    reducing.run);
    }
    __syncthreads();
    sum_tile(reducing, {tile / across * tile_m, tile % across * tile_n}, rows, product.n);
    __syncthreads();
  }
}

class GemmReduceScatter {
 public:
  GemmReduceScatter(const Bench& bench, const GemmShape& shape)
      : bench_(bench),
        machine_(bench.machine),
        gemm_(machine_, shape),
        sums_(machine_, shape.results() / machine_.gpus().size(), Reach::local) {}

  std::vector<double> compute() {
    return bench_.timer.behind_gate({.queue = [&](unsigned) { gemm_.queue(); }});
  }

  std::vector<double> communicate() {
    Communicator& communicator = bench_.communicators.with_channels(0);
    return bench_.timer.behind_gate(
        {.queue = [&](unsigned) { queue_exchange(communicator, sums_); }});
  }

  std::vector<double> bulk() {
    Communicator& communicator = bench_.communicators.with_channels(0);
    return bench_.timer.behind_gate({.queue =
                                         [&](unsigned) {
                                           gemm_.queue();
                                           queue_exchange(communicator, sums_);
                                         },
                                     .prepare = [&] { sums_.fill_bytes(0xFF); },
                                     .verify = [&] { verify_some(); }});
  }

  std::vector<double> fused(Order order, int wgs, int occupancy) {
    const auto tiles = static_cast<std::size_t>(gemm_.shape().tiles());
    const Buffers<bf16_bits> parts(machine_, gemm_.shape().results(), Reach::peers);
    const Buffers<Flag> flags(machine_, tiles, Reach::peers);
    flags.fill_bytes(0);
    const Buffers<bf16_bits> reference = bulk_results();
    const Grid grid = limit_occupancy(machine_, multiply_and_reduce,
                                      {.wgs = wgs, .shared_bytes = tile_shared_bytes}, occupancy);
    prepare_persistent(machine_, multiply_and_reduce, grid);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine_.size(); ++g) {
        const int own = static_cast<int>(tiles) / machine_.size();
        machine_.gpu(g).use();
        launch(multiply_and_reduce, grid, machine_.gpu(g).main, gemm_.product(g),
               Reducing{{machine_.size(), g, own, order}, parts.all(), flags.all(), sums_[g], run});
      }
    };
    const auto verify = [&] {
      for (int g = 0; g < machine_.size(); ++g) {
        // The library rounds to bf16 after each part, in an order of its own.
        expect_equal_bf16(machine_.gpu(g), sums_[g], reference[g], sums_.count(),
                          static_cast<float>(tolerance()), "fused GEMM + reduce-scatter");
      }
      verify_some();
    };
    return bench_.timer.behind_gate({.queue = queue,
                                     .prepare =
                                         [&] {
                                           sums_.fill_bytes(0xFF);
                                           parts.fill_bytes(0xFF);
                                         },
                                     .verify = verify});
  }

 private:
  // A rounding for each part and one for each partial sum.
  double tolerance() const {
    return 2.0 * gemm_.tolerance() * std::sqrt(static_cast<double>(machine_.size()));
  }

  void queue_exchange(Communicator& communicator, const Buffers<bf16_bits>& to) const {
    communicator.launch({.what = Collective::reduce_scatter,
                         .element = Element::bf16,
                         .bytes = gemm_.shape().results() * sizeof(bf16_bits),
                         .from = [&](int g) { return gemm_.c()[g]; },
                         .to = [&](int g) { return to[g]; }},
                        machine_.streams(&Gpu::main));
  }

  Buffers<bf16_bits> bulk_results() const {
    Buffers<bf16_bits> results(machine_, sums_.count(), Reach::local);
    results.fill_bytes(0xFF);
    machine_.synchronize();
    gemm_.queue();
    queue_exchange(bench_.communicators.with_channels(0), results);
    machine_.synchronize();
    return results;
  }

  void verify_some() const {
    const auto n = static_cast<std::size_t>(gemm_.shape().n);
    const std::size_t rows = sums_.count() / n;
    for (int owner = 0; owner < machine_.size(); ++owner) {
      const std::size_t row = mixed(8, static_cast<std::size_t>(owner)) % rows;
      const std::size_t column = mixed(9, static_cast<std::size_t>(owner)) % n;
      double sum = 0;
      for (int g = 0; g < machine_.size(); ++g) {
        sum += gemm_.expected(g, static_cast<std::size_t>(owner) * rows + row, column);
      }
      expect_close_bf16(machine_.gpu(owner), sums_[owner], row * n + column, sum, tolerance(),
                        "GEMM + reduce-scatter");
    }
  }

  const Bench& bench_;
  const Machine& machine_;
  GemmOnAll gemm_;
  Buffers<bf16_bits> sums_;  // [row of mine][column]
};

void add_fused(const Plan& plan, const GemmShape& shape, const char* kind, Order order, Depth depth,
               Cases& cases) {
  const int wgs = std::min(gemm_occupancy * plan.units, shape.tiles());
  JsonLine line = gemm_line(kind, plan, shape);
  line.set("wgs", wgs).set("occupancy", gemm_occupancy);
  cases.push_back({line, depth, [=](const Bench& bench) {
                     return GemmReduceScatter(bench, shape).fused(order, wgs, gemm_occupancy);
                   }});
}

}  // namespace

void add_gemm_reduce_scatter(const Plan& plan, Cases& cases) {
  std::vector<GemmShape> shapes = {{1024, 1024, 1024},
                                   {4096, 4096, 1024},
                                   {8192, 1024, 1024},
                                   {8192, 4096, 1024},
                                   {4096, 4096, 3584}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    GemmShape& shape = shapes[i];
    shape.m = rows_in_tiles(plan.at_most(shape.m, 256), plan.gpus);
    shape.n = plan.at_most(shape.n, 256);
    shape.k = plan.at_most(shape.k, 256);
    const Depth depth = i < 2 ? Depth::quick : Depth::full;
    const auto add = [&](const char* kind, auto run) {
      cases.push_back({gemm_line(kind, plan, shape), depth, [=](const Bench& bench) {
                         GemmReduceScatter gemm(bench, shape);
                         return run(gemm);
                       }});
    };
    add("gemm_rs.compute", [](GemmReduceScatter& gemm) { return gemm.compute(); });
    add("gemm_rs.comm", [](GemmReduceScatter& gemm) { return gemm.communicate(); });
    add("gemm_rs.bulk", [](GemmReduceScatter& gemm) { return gemm.bulk(); });
    add_fused(plan, shape, "gemm_rs.fused", Order::remote_first, depth, cases);
  }
  add_fused(plan, shapes[1], "gemm_rs.fused_local_first", Order::local_first, Depth::full, cases);
}

}  // namespace calibration
