// GEMV + all-reduce: y = W x, W in half precision and spread over the GPUs by columns, so that each
// GPU has a part of every sum. Fused it is a two-phase direct all-reduce: a slice of rows goes to
// its owner, who sums the parts and stores the sums to all.

#include <algorithm>

#include "flags.h"
#include "halves.h"
#include "operator.h"
#include "slices.h"

namespace calibration {
namespace {

constexpr int usual_occupancy = 5;  // WGs on an SM or CU
constexpr int halves_per_word = 8;

struct Shape {
  int m;
  int k_local;
  int rows_per_wg;
  int loads = 1;  // of W, 16 bytes each, that a thread has in flight: 1 or 4
};

struct Gemv {
  const uint4* w;  // m x k_local halves
  const uint4* x;  // k_local halves
  unsigned words;  // 16 bytes each, in a row
  int rows_per_wg;
};

__device__ float dot(const uint4& a, const uint4& b) {
  const unsigned left[4] = {a.x, a.y, a.z, a.w};
  const unsigned right[4] = {b.x, b.y, b.z, b.w};
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 l = from_halves(left[i]);
    const float2 r = from_halves(right[i]);
    sum += l.x * r.x;
    sum += l.y * r.y;
  }
  return sum;
}

// Rows `first_row` on, one warp a row, into y[0], y[1], ...
template <int loads>
__device__ void multiply_rows(const Gemv& gemv, int first_row, float* y) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  const int warps = static_cast<int>(blockDim.x) / warpSize;
  const auto step = static_cast<unsigned>(warpSize);
  for (int r = static_cast<int>(threadIdx.x) / warpSize; r < gemv.rows_per_wg; r += warps) {
    const uint4* row = gemv.w + static_cast<std::size_t>(first_row + r) * gemv.words;
    float sum = 0;
    auto i = static_cast<unsigned>(lane);
#pragma unroll 1
    for (; i + (loads - 1) * step < gemv.words; i += loads * step) {
      uint4 word[loads];
#pragma unroll
      for (unsigned l = 0; l < loads; ++l) {
        word[l] = row[i + l * step];
      }
#pragma unroll
      for (unsigned l = 0; l < loads; ++l) {
        sum += dot(word[l], gemv.x[i + l * step]);
      }
    }
#pragma unroll 1
    for (; i < gemv.words; i += step) {
      sum += dot(row[i], gemv.x[i]);
    }
    for (int other = warpSize / 2; other > 0; other /= 2) {
      sum += __shfl_xor(sum, other);
    }
    if (lane == 0) {
      y[r] = sum;
    }
  }
}

template <int loads>
__global__ void __launch_bounds__(threads_per_wg, usual_occupancy) multiply(Gemv gemv, float* y) {
  const int first_row = static_cast<int>(blockIdx.x) * gemv.rows_per_wg;
  multiply_rows<loads>(gemv, first_row, y + first_row);
}

struct Reducing {
  SliceOrder order;
  PerGpu<float> parts;      // [source][row of mine]: the parts that come to me as owner
  PerGpu<Flag> part_flags;  // [source][slice of mine]
  PerGpu<float> y;          // [row]
  PerGpu<Flag> sum_flags;   // [slice of all]
  unsigned run;
};

template <int loads>
__device__ void send_parts(const Gemv& gemv, const Reducing& reducing) {
  const SliceOrder& order = reducing.order;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    const int whole = slice.destination * order.slices_per_destination + slice.index;
    const int at_owner = order.me * order.slices_per_destination + slice.index;
    multiply_rows<loads>(gemv, whole * gemv.rows_per_wg,
                         reducing.parts.at[slice.destination] + at_owner * gemv.rows_per_wg);
    __syncthreads();
    if (threadIdx.x == 0) {
      set_flag(reducing.part_flags.at[slice.destination] + at_owner, reducing.run);
    }
  }
}

__device__ void sum_and_send(const Reducing& reducing, int rows_per_slice) {
  const SliceOrder& order = reducing.order;
  const float* parts = reducing.parts.at[order.me];
  const int rows = order.slices_per_destination * rows_per_slice;
  for (int slice = static_cast<int>(blockIdx.x); slice < order.slices_per_destination;
       slice += static_cast<int>(gridDim.x)) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < order.gpus) {
      wait_for_flag(
          reducing.part_flags.at[order.me] + thread * order.slices_per_destination + slice,
          reducing.run);
    }
    __syncthreads();
    for (int r = thread; r < rows_per_slice; r += static_cast<int>(blockDim.x)) {
      const int row = slice * rows_per_slice + r;
      float sum = 0;
      for (int source = 0; source < order.gpus; ++source) {
        sum += parts[source * rows + row];
      }
      for (int step = 1; step <= order.gpus; ++step) {
        reducing.y.at[(order.me + step) % order.gpus][order.me * rows + row] = sum;
      }
    }
    __syncthreads();
    if (thread < order.gpus) {
      const int to = (order.me + 1 + thread) % order.gpus;
      set_flag(reducing.sum_flags.at[to] + order.me * order.slices_per_destination + slice,
               reducing.run);
    }
  }
}

// Persistent. Ends when the sums of all slices have come.
template <int loads>
__global__ void __launch_bounds__(threads_per_wg, usual_occupancy)
    multiply_and_reduce(Gemv gemv, Reducing reducing) {
  send_parts<loads>(gemv, reducing);
  sum_and_send(reducing, gemv.rows_per_wg);
  const Flag* flags = reducing.sum_flags.at[reducing.order.me];
  for (unsigned slice = blockIdx.x * blockDim.x + threadIdx.x;
       slice < static_cast<unsigned>(reducing.order.slices()); slice += gridDim.x * blockDim.x) {
    wait_for_flag(flags + slice, reducing.run);
  }
}

// Both kernels with so many loads in flight.
struct Kernels {
  void (*multiply)(Gemv, float*);
  void (*multiply_and_reduce)(Gemv, Reducing);
};

Kernels kernels_of(int loads) {
  return loads == 1 ? Kernels{multiply<1>, multiply_and_reduce<1>}
                    : Kernels{multiply<4>, multiply_and_reduce<4>};
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
                              usual_occupancy)) {
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
        persistent_grid(machine(), kernels_.multiply_and_reduce, {.wgs = wgs}, occupancy);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine().size(); ++g) {
        const int own = static_cast<int>(slices) / machine().size();
        machine().gpu(g).use();
        launch(kernels_.multiply_and_reduce, grid, machine().gpu(g).main, gemv(g),
               Reducing{{machine().size(), g, own, order},
                        parts.all(),
                        part_flags.all(),
                        results().all(),
                        sum_flags.all(),
                        run});
      }
    };
    // The library adds in an order of its own.
    return time_fused({.queue = queue,
                       .clear = [&] { parts.fill_bytes(0xFF); },
                       .tolerance = tolerance(),
                       .what = "fused GEMV + all-reduce",
                       .kernel = facts_of(machine().gpu(0), kernels_.multiply_and_reduce, grid)});
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
      line_for(plan, shape, usual_occupancy), depth,
      [=](const Bench& bench) { return GemvAllReduce(bench, shape); }, cases);
  add_fused(plan, shape, Order::remote_first, usual_occupancy, depth, cases);
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
  add_fused(plan, shape, Order::local_first, usual_occupancy, Depth::full, cases);
  for (const int occupancy : {1, 2, 3}) {
    add_fused(plan, shape, Order::remote_first, occupancy, Depth::full, cases);
  }
}

}  // namespace calibration
