// GEMM + all-to-all: rows of C are grouped by the GPU they are for.

#include <algorithm>

#include "collectives.h"
#include "flags.h"
#include "gemm_operator.h"
#include "slices.h"

namespace calibration {
namespace {

struct Sending {
  SliceOrder order;       // a slice is a tile
  PerGpu<bf16_bits> out;  // [source][row of mine][column]
  PerGpu<Flag> flags;     // [source]
  unsigned* counters;     // [destination]
  unsigned run;
};

// Persistent: tiles in the order given, stored straight into the output of their destination.
__global__ void __launch_bounds__(threads_per_wg, gemm_occupancy)
    multiply_and_send(Product product, Sending sending) {
  const SliceOrder& order = sending.order;
  const int across = product.n / tile_n;
  const int rows = order.slices_per_destination / across * tile_m;  // for each destination
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    const int row = slice.index / across * tile_m;  // of the destination's
    const int column = slice.index % across * tile_n;
    bf16_bits* out =
        sending.out.at[slice.destination] +
        static_cast<std::size_t>(order.me * rows + row) * static_cast<std::size_t>(product.n) +
        column;
    make_tile(product, {slice.destination * rows + row, column}, out, product.n);
    if (threadIdx.x == 0) {
      arrive(sending.counters + slice.destination,
             static_cast<unsigned>(order.slices_per_destination),
             sending.flags.at[slice.destination] + order.me, sending.run);
    }
  }
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < order.gpus) {
    wait_for_flag(sending.flags.at[order.me] + threadIdx.x, sending.run);
  }
}

class GemmAllToAll {
 public:
  GemmAllToAll(const Bench& bench, const GemmShape& shape)
      : bench_(bench),
        machine_(bench.machine),
        gemm_(machine_, shape),
        received_(machine_, shape.results(), Reach::peers) {}

  std::vector<double> compute() {
    return bench_.timer.behind_gate({.queue = [&](unsigned) { gemm_.queue(); }});
  }

  std::vector<double> communicate() {
    Communicator& communicator = bench_.communicators.with_channels(0);
    return bench_.timer.behind_gate(
        {.queue = [&](unsigned) { queue_exchange(communicator, received_); }});
  }

  std::vector<double> bulk() {
    Communicator& communicator = bench_.communicators.with_channels(0);
    return bench_.timer.behind_gate({.queue =
                                         [&](unsigned) {
                                           gemm_.queue();
                                           queue_exchange(communicator, received_);
                                         },
                                     .prepare = [&] { received_.fill_bytes(0xFF); },
                                     .verify = [&] { verify_some(); }});
  }

  std::vector<double> fused(Order order, int wgs, int occupancy) {
    const auto gpus = static_cast<std::size_t>(machine_.size());
    const Buffers<Flag> flags(machine_, gpus, Reach::peers);
    const Buffers<unsigned> counters(machine_, gpus, Reach::local);
    flags.fill_bytes(0);
    counters.fill_bytes(0);
    const Buffers<bf16_bits> reference = bulk_results();
    const Grid grid = limit_occupancy(machine_, multiply_and_send,
                                      {.wgs = wgs, .shared_bytes = tile_shared_bytes}, occupancy);
    prepare_persistent(machine_, multiply_and_send, grid);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine_.size(); ++g) {
        const int own = gemm_.shape().tiles() / machine_.size();
        machine_.gpu(g).use();
        launch(
            multiply_and_send, grid, machine_.gpu(g).main, gemm_.product(g),
            Sending{
                {machine_.size(), g, own, order}, received_.all(), flags.all(), counters[g], run});
      }
    };
    return bench_.timer.behind_gate({.queue = queue,
                                     .prepare = [&] { received_.fill_bytes(0xFF); },
                                     .verify =
                                         [&] {
                                           for (int g = 0; g < machine_.size(); ++g) {
                                             expect_equal_bf16(machine_.gpu(g), received_[g],
                                                               reference[g], received_.count(), 0,
                                                               "fused GEMM + all-to-all");
                                           }
                                         }});
  }

 private:
  void queue_exchange(Communicator& communicator, const Buffers<bf16_bits>& to) const {
    communicator.launch({.what = Collective::all_to_all,
                         .element = Element::bf16,
                         .bytes = gemm_.shape().results() * sizeof(bf16_bits),
                         .from = [&](int g) { return gemm_.c()[g]; },
                         .to = [&](int g) { return to[g]; }},
                        machine_.streams(&Gpu::main));
  }

  Buffers<bf16_bits> bulk_results() const {
    Buffers<bf16_bits> results(machine_, gemm_.shape().results(), Reach::local);
    results.fill_bytes(0xFF);
    machine_.synchronize();
    gemm_.queue();
    queue_exchange(bench_.communicators.with_channels(0), results);
    machine_.synchronize();
    return results;
  }

  // One element of each block that each GPU got.
  void verify_some() const {
    const auto gpus = static_cast<std::size_t>(machine_.size());
    const auto n = static_cast<std::size_t>(gemm_.shape().n);
    const std::size_t rows = static_cast<std::size_t>(gemm_.shape().m) / gpus;
    for (std::size_t to = 0; to < gpus; ++to) {
      for (std::size_t source = 0; source < gpus; ++source) {
        const std::size_t row = mixed(8, to * gpus + source) % rows;
        const std::size_t column = mixed(9, to * gpus + source) % n;
        expect_close_bf16(machine_.gpu(static_cast<int>(to)), received_[static_cast<int>(to)],
                          (source * rows + row) * n + column,
                          gemm_.expected(static_cast<int>(source), to * rows + row, column),
                          gemm_.tolerance(), "GEMM + all-to-all");
      }
    }
  }

  const Bench& bench_;
  const Machine& machine_;
  GemmOnAll gemm_;
  Buffers<bf16_bits> received_;  // [source][row of mine][column]
};

void add_fused(const Plan& plan, const GemmShape& shape, const char* kind, Order order,
               int occupancy, Depth depth, Cases& cases) {
  const int wgs = std::min(occupancy * plan.units, shape.tiles());
  JsonLine line = gemm_line(kind, plan, shape);
  line.set("wgs", wgs).set("occupancy", occupancy);
  cases.push_back({line, depth, [=](const Bench& bench) {
                     return GemmAllToAll(bench, shape).fused(order, wgs, occupancy);
                   }});
}

}  // namespace

void add_gemm_all_to_all(const Plan& plan, Cases& cases) {
  std::vector<GemmShape> shapes = {{1024, 1024, 1024}, {2048, 4096, 4096}, {4096, 1024, 4096},
                                   {8192, 1024, 1024}, {8192, 4096, 1024}, {4096, 4096, 14336}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    GemmShape& shape = shapes[i];
    shape.m = rows_in_tiles(plan.at_most(shape.m, 256), plan.gpus);
    shape.n = plan.at_most(shape.n, 256);
    shape.k = plan.at_most(shape.k, 256);
    const Depth depth = i < 2 ? Depth::quick : Depth::full;
    const auto add = [&](const char* kind, auto run) {
      cases.push_back({gemm_line(kind, plan, shape), depth, [=](const Bench& bench) {
                         GemmAllToAll gemm(bench, shape);
                         return run(gemm);
                       }});
    };
    add("gemm.compute", [](GemmAllToAll& gemm) { return gemm.compute(); });
    add("gemm.comm", [](GemmAllToAll& gemm) { return gemm.communicate(); });
    add("gemm.bulk", [](GemmAllToAll& gemm) { return gemm.bulk(); });
    add_fused(plan, shape, "gemm.fused", Order::remote_first, gemm_occupancy, depth, cases);
  }
  add_fused(plan, shapes[4], "gemm.fused_local_first", Order::local_first, gemm_occupancy,
            Depth::full, cases);
  add_fused(plan, shapes[4], "gemm.fused", Order::remote_first, 1, Depth::full, cases);
}

}  // namespace calibration
