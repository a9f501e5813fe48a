// GEMV + all-reduce: y = W x, W in half precision and spread over the GPUs by columns, so that each
// GPU has a part of every sum. Fused it is a two-phase direct all-reduce: a slice of rows goes to
// its owner, who sums the parts and stores the sums to all.

#include <algorithm>

#include "gemv_kernels.h"
#include "operator.h"

namespace calibration {
namespace {

struct Shape {
  int m;
  int k_local;
  int rows_per_wg;
  int loads = 1;  // of W, 16 bytes each, that a thread has in flight: 1 or 4
};

// Both kernels with so many loads in flight.
struct Kernels {
  void (*multiply)(Gemv, float*);
  void (*multiply_and_all_reduce)(Gemv, RowReducing);
};

Kernels kernels_of(int loads) {
  return loads == 1 ? Kernels{multiply<1>, multiply_and_all_reduce<1>}
                    : Kernels{multiply<4>, multiply_and_all_reduce<4>};
}

constexpr std::uint32_t matrix_seed = 300;
constexpr std::uint32_t vector_seed = 400;

class GemvAllReduce final : public Operator<float> {
 public:
  GemvAllReduce(const Bench& bench, const Shape& shape)
      : Operator(bench, static_cast<std::size_t>(shape.m), Reach::peers),
        shape_(shape),
        kernels_(kernels_of(shape.loads)),
        w_(machine(), rows() * columns(), Reach::local),
        x_(machine(), columns(), Reach::local),
        part_(machine(), rows(), Reach::local),
        grid_(limit_occupancy(machine(), kernels_.multiply, {.wgs = shape.m / shape.rows_per_wg},
                              gemv_occupancy)) {
    for (int g = 0; g < machine().size(); ++g) {
      const Gpu& gpu = machine().gpu(g);
      fill_test_halves(gpu, w_[g], w_.count(), matrix_seed + static_cast<unsigned>(g));
      fill_test_halves(gpu, x_[g], x_.count(), vector_seed + static_cast<unsigned>(g));
    }
    machine().synchronize();
  }

  Measured fused(Order order, int wgs, int occupancy) const {
    const std::size_t slices = rows() / static_cast<std::size_t>(shape_.rows_per_wg);
    const Buffers<float> parts(machine(), rows(), Reach::peers);
    const Buffers<Flag> part_flags(machine(), slices, Reach::peers);
    const Buffers<Flag> sum_flags(machine(), slices, Reach::peers);
    part_flags.fill_bytes(0);
    sum_flags.fill_bytes(0);
    const Grid grid =
        persistent_grid(machine(), kernels_.multiply_and_all_reduce, {.wgs = wgs}, occupancy);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine().size(); ++g) {
        const int own = static_cast<int>(slices) / machine().size();
        machine().gpu(g).use();
        launch(kernels_.multiply_and_all_reduce, grid, machine().gpu(g).main, gemv(g),
               RowReducing{{machine().size(), g, own, order},
                           parts.all(),
                           part_flags.all(),
                           results().all(),
                           sum_flags.all(),
                           run});
      }
    };
    // The library adds in an order of its own.
    return time_fused(
        {.queue = queue,
         .clear = [&] { parts.fill_bytes(0xFF); },
         .tolerance = tolerance(),
         .what = "fused GEMV + all-reduce",
         .kernel = facts_of(machine().gpu(0), kernels_.multiply_and_all_reduce, grid)});
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(shape_.m); }
  std::size_t columns() const { return static_cast<std::size_t>(shape_.k_local); }

  // Float32 sums of values of about 1/3: their error grows as the sum of their magnitudes.
  float tolerance() const {
    return 1e-6F * static_cast<float>(shape_.k_local) * static_cast<float>(machine().size());
  }

  Gemv gemv(int g) const {
    return {reinterpret_cast<const uint4*>(w_[g]), reinterpret_cast<const uint4*>(x_[g]),
            static_cast<unsigned>(shape_.k_local / halves_per_word), shape_.rows_per_wg};
  }

  void queue_kernel() const override {
    for (int g = 0; g < machine().size(); ++g) {
      machine().gpu(g).use();
      launch(kernels_.multiply, grid_, machine().gpu(g).main, gemv(g), part_[g]);
    }
  }

  KernelFacts kernel_facts() const override {
    return facts_of(machine().gpu(0), kernels_.multiply, grid_);
  }

  Exchange exchange(const Buffers<float>& to) const override {
    return {.what = Collective::all_reduce,
            .element = Element::float32,
            .bytes = rows() * sizeof(float),
            .from = [&](int g) { return part_[g]; },
            .to = [&](int g) { return to[g]; }};
  }

  void verify() const override {
    for (const std::size_t row : {std::size_t{0}, rows() / 2 + 1, rows() - 1}) {
      double sum = 0;
      for (int g = 0; g < machine().size(); ++g) {
        for (std::size_t c = 0; c < columns(); ++c) {
          const auto rank = static_cast<unsigned>(g);
          sum += static_cast<double>(test_value(matrix_seed + rank, row * columns() + c)) *
                 static_cast<double>(test_value(vector_seed + rank, c));
        }
      }
      for (int g = 0; g < machine().size(); ++g) {
        expect_close(machine().gpu(g), results()[g], row, sum, static_cast<double>(tolerance()),
                     "GEMV + all-reduce");
      }
    }
  }

  Shape shape_;
  Kernels kernels_;
  Buffers<half_bits> w_;
  Buffers<half_bits> x_;
  Buffers<float> part_;
  Grid grid_;
};

OperatorLine line_for(const Plan& plan, const Shape& shape, int occupancy) {
  return {
      .operator_name = "gemv",
      .plan = plan,
      .shape = {{"m", shape.m},
                {"k_local", shape.k_local},
                {"rows_per_wg", shape.rows_per_wg},
                {"weight_bytes", 2},
                {"out_bytes", 4}},
      .kernel = {
          {"threads", threads_per_wg}, {"loads_in_flight", shape.loads}, {"occupancy", occupancy}}};
}

void add_fused(const Plan& plan, const Shape& shape, Order order, int occupancy, Depth depth,
               Cases& cases) {
  const int wgs = std::min(occupancy * plan.units, shape.m / shape.rows_per_wg);
  const char* part = order == Order::remote_first ? "fused" : "fused_local_first";
  JsonLine line = line_for(plan, shape, occupancy).with_kernel(part);
  line.set("wgs", wgs);
  cases.push_back({line, depth, [=](const Bench& bench) {
                     return GemvAllReduce(bench, shape).fused(order, wgs, occupancy);
                   }});
}

Shape fitted(const Plan& plan, Shape shape) {
  const int unit = plan.gpus * shape.rows_per_wg;  // each GPU owns whole slices
  shape.m = (plan.at_most(shape.m, 512) + unit - 1) / unit * unit;
  return shape;
}

void add_shape(const Plan& plan, const Shape& usual, Depth depth, Cases& cases) {
  const Shape shape = fitted(plan, usual);
  add_unfused(
      line_for(plan, shape, gemv_occupancy), depth,
      [=](const Bench& bench) { return GemvAllReduce(bench, shape); }, cases);
  add_fused(plan, shape, Order::remote_first, gemv_occupancy, depth, cases);
}

}  // namespace

void add_gemv(const Plan& plan, Cases& cases) {
  for (const int rows_per_wg : {8, 16, 32, 64, 128}) {
    const Depth depth = rows_per_wg == 32 ? Depth::quick : Depth::full;
    add_shape(plan, {4096, 2048, rows_per_wg}, depth, cases);
    add_shape(plan, {8192, 8192, rows_per_wg}, depth, cases);
    add_shape(plan, {16384, 1024, rows_per_wg}, depth, cases);
    add_shape(plan, {32768, 4096, rows_per_wg}, depth, cases);
  }
  add_shape(plan, {8192, 8192, 32, 4}, Depth::quick, cases);
  add_shape(plan, {32768, 4096, 32, 4}, Depth::full, cases);
  const Shape shape = fitted(plan, {32768, 4096, 32});
  add_fused(plan, shape, Order::local_first, gemv_occupancy, Depth::full, cases);
  for (const int occupancy : {1, 2, 3}) {
    add_fused(plan, shape, Order::remote_first, occupancy, Depth::full, cases);
  }
}

}  // namespace calibration
