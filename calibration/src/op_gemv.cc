// GEMV + all-reduce: y = W x, W in half precision and spread over the GPUs by columns, so that each
// GPU has a part of every sum. Fused it is a two-phase direct all-reduce: a slice of rows goes to
// its owner, who sums the parts and stores the sums to all.

#include <algorithm>

#include "buffers.h"
#include "collectives.h"
#include "data.h"
#include "flags.h"
#include "kernels.h"
#include "slices.h"
#include "suite.h"

namespace calibration {
namespace {

constexpr int usual_occupancy = 5;  // WGs on an SM or CU
constexpr int halves_per_word = 8;

struct Shape {
  int m;
  int k_local;
  int rows_per_wg;
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

// Rows `first_row` on, one warp a row, into y[0], y[1], ... Four loads of W in flight in a thread.
__device__ void multiply_rows(const Gemv& gemv, int first_row, float* y) {
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  const int warps = static_cast<int>(blockDim.x) / warpSize;
  const auto step = static_cast<unsigned>(warpSize);
  for (int r = static_cast<int>(threadIdx.x) / warpSize; r < gemv.rows_per_wg; r += warps) {
    const uint4* row = gemv.w + static_cast<std::size_t>(first_row + r) * gemv.words;
    float sum = 0;
    auto i = static_cast<unsigned>(lane);
    for (; i + 3 * step < gemv.words; i += 4 * step) {
      uint4 word[4];
#pragma unroll
      for (unsigned l = 0; l < 4; ++l) {
        word[l] = row[i + l * step];
      }
#pragma unroll
      for (unsigned l = 0; l < 4; ++l) {
        sum += dot(word[l], gemv.x[i + l * step]);
      }
    }
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

__global__ void __launch_bounds__(threads_per_wg, usual_occupancy) multiply(Gemv gemv, float* y) {
  const int first_row = static_cast<int>(blockIdx.x) * gemv.rows_per_wg;
  multiply_rows(gemv, first_row, y + first_row);
}

struct Reducing {
  SliceOrder order;
  PerGpu<float> parts;      // [source][row of mine]: the parts that come to me as owner
  PerGpu<Flag> part_flags;  // [source][slice of mine]
  PerGpu<float> y;          // [row]
  PerGpu<Flag> sum_flags;   // [slice of all]
  unsigned run;
};

__device__ void send_parts(const Gemv& gemv, const Reducing& reducing) {
  const SliceOrder& order = reducing.order;
  for (int position = static_cast<int>(blockIdx.x); position < order.slices();
       position += static_cast<int>(gridDim.x)) {
    const Slice slice = order.at(position);
    const int whole = slice.destination * order.slices_per_destination + slice.index;
    const int at_owner = order.me * order.slices_per_destination + slice.index;
    multiply_rows(gemv, whole * gemv.rows_per_wg,
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
__global__ void __launch_bounds__(threads_per_wg, usual_occupancy)
    multiply_and_reduce(Gemv gemv, Reducing reducing) {
  send_parts(gemv, reducing);
  sum_and_send(reducing, gemv.rows_per_wg);
  const Flag* flags = reducing.sum_flags.at[reducing.order.me];
  for (unsigned slice = blockIdx.x * blockDim.x + threadIdx.x;
       slice < static_cast<unsigned>(reducing.order.slices()); slice += gridDim.x * blockDim.x) {
    wait_for_flag(flags + slice, reducing.run);
  }
}

constexpr std::uint32_t matrix_seed = 300;
constexpr std::uint32_t vector_seed = 400;

class GemvOnAll {
 public:
  GemvOnAll(const Bench& bench, const Shape& shape)
      : bench_(bench),
        machine_(bench.machine),
        shape_(shape),
        w_(machine_, rows() * columns(), Reach::local),
        x_(machine_, columns(), Reach::local),
        part_(machine_, rows(), Reach::local),
        y_(machine_, rows(), Reach::peers),
        grid_(limit_occupancy(machine_, multiply, {.wgs = shape.m / shape.rows_per_wg},
                              usual_occupancy)) {
    for (int g = 0; g < machine_.size(); ++g) {
      const Gpu& gpu = machine_.gpu(g);
      fill_test_halves(gpu, w_[g], w_.count(), matrix_seed + static_cast<unsigned>(g));
      fill_test_halves(gpu, x_[g], x_.count(), vector_seed + static_cast<unsigned>(g));
    }
    machine_.synchronize();
  }

  std::vector<double> compute() {
    return bench_.timer.behind_gate({.queue = [&](unsigned) { queue_multiply(); }});
  }

  std::vector<double> communicate() {
    Communicator& communicator = bench_.communicators.with_channels(0);
    return bench_.timer.behind_gate({.queue = [&](unsigned) { queue_reduce(communicator, y_); }});
  }

  std::vector<double> bulk() {
    Communicator& communicator = bench_.communicators.with_channels(0);
    return bench_.timer.behind_gate({.queue =
                                         [&](unsigned) {
                                           queue_multiply();
                                           queue_reduce(communicator, y_);
                                         },
                                     .prepare = [&] { y_.fill_bytes(0xFF); },
                                     .verify = [&] { verify_some(); }});
  }

  std::vector<double> fused(Order order, int wgs, int occupancy) {
    const std::size_t slices = rows() / static_cast<std::size_t>(shape_.rows_per_wg);
    const Buffers<float> parts(machine_, rows(), Reach::peers);
    const Buffers<Flag> part_flags(machine_, slices, Reach::peers);
    const Buffers<Flag> sum_flags(machine_, slices, Reach::peers);
    const Buffers<float> reference = bulk_results();
    part_flags.fill_bytes(0);
    sum_flags.fill_bytes(0);
    const Grid grid = limit_occupancy(machine_, multiply_and_reduce, {.wgs = wgs}, occupancy);
    prepare_persistent(machine_, multiply_and_reduce, grid);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine_.size(); ++g) {
        const int own = static_cast<int>(slices) / machine_.size();
        machine_.gpu(g).use();
        launch(multiply_and_reduce, grid, machine_.gpu(g).main, gemv(g),
               Reducing{{machine_.size(), g, own, order},
                        parts.all(),
                        part_flags.all(),
                        y_.all(),
                        sum_flags.all(),
                        run});
      }
    };
    const auto verify = [&] {
      verify_some();
      for (int g = 0; g < machine_.size(); ++g) {
        // The library adds in an order of its own.
        expect_equal(machine_.gpu(g), y_[g], reference[g], rows(), tolerance(),
                     "fused GEMV + all-reduce");
      }
    };
    return bench_.timer.behind_gate({.queue = queue,
                                     .prepare =
                                         [&] {
                                           y_.fill_bytes(0xFF);
                                           parts.fill_bytes(0xFF);
                                         },
                                     .verify = verify});
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(shape_.m); }
  std::size_t columns() const { return static_cast<std::size_t>(shape_.k_local); }

  // Float32 sums of values of about 1/3: their error grows as the sum of their magnitudes.
  float tolerance() const {
    return 1e-6F * static_cast<float>(shape_.k_local) * static_cast<float>(machine_.size());
  }

  Gemv gemv(int g) const {
    return {reinterpret_cast<const uint4*>(w_[g]), reinterpret_cast<const uint4*>(x_[g]),
            static_cast<unsigned>(shape_.k_local / halves_per_word), shape_.rows_per_wg};
  }

  void queue_multiply() const {
    for (int g = 0; g < machine_.size(); ++g) {
      machine_.gpu(g).use();
      launch(multiply, grid_, machine_.gpu(g).main, gemv(g), part_[g]);
    }
  }

  void queue_reduce(Communicator& communicator, const Buffers<float>& to) const {
    communicator.launch({.what = Collective::all_reduce,
                         .element = Element::float32,
                         .bytes = rows() * sizeof(float),
                         .from = [&](int g) { return part_[g]; },
                         .to = [&](int g) { return to[g]; }},
                        machine_.streams(&Gpu::main));
  }

  Buffers<float> bulk_results() const {
    Buffers<float> results(machine_, rows(), Reach::local);
    results.fill_bytes(0xFF);
    machine_.synchronize();
    queue_multiply();
    queue_reduce(bench_.communicators.with_channels(0), results);
    machine_.synchronize();
    return results;
  }

  void verify_some() const {
    for (const std::size_t row : {std::size_t{0}, rows() / 2 + 1, rows() - 1}) {
      double sum = 0;
      for (int g = 0; g < machine_.size(); ++g) {
        for (std::size_t c = 0; c < columns(); ++c) {
          const auto rank = static_cast<unsigned>(g);
          sum += static_cast<double>(test_value(matrix_seed + rank, row * columns() + c)) *
                 static_cast<double>(test_value(vector_seed + rank, c));
        }
      }
      for (int g = 0; g < machine_.size(); ++g) {
        expect_close(machine_.gpu(g), y_[g], row, sum, static_cast<double>(tolerance()),
                     "GEMV + all-reduce");
      }
    }
  }

  const Bench& bench_;
  const Machine& machine_;
  Shape shape_;
  Buffers<half_bits> w_;
  Buffers<half_bits> x_;
  Buffers<float> part_;
  Buffers<float> y_;
  Grid grid_;
};

JsonLine line_for(const char* kind, const Plan& plan, const Shape& shape) {
  JsonLine line = line_of(kind, plan);
  line.set("m", shape.m)
      .set("k_local", shape.k_local)
      .set("rows_per_wg", shape.rows_per_wg)
      .set("weight_bytes", 2)
      .set("out_bytes", 4);
  return line;
}

void add_fused(const Plan& plan, const Shape& shape, const char* kind, Order order, int occupancy,
               Depth depth, Cases& cases) {
  const int wgs = std::min(occupancy * plan.units, shape.m / shape.rows_per_wg);
  JsonLine line = line_for(kind, plan, shape);
  line.set("wgs", wgs);
  if (occupancy != usual_occupancy) {
    line.set("wgs_per_unit", occupancy);
  }
  cases.push_back({line, depth, [=](const Bench& bench) {
                     return GemvOnAll(bench, shape).fused(order, wgs, occupancy);
                   }});
}

void add_shape(const Plan& plan, const Shape& shape, Depth depth, Cases& cases) {
  const auto add = [&](const char* kind, auto run) {
    cases.push_back({line_for(kind, plan, shape), depth, [=](const Bench& bench) {
                       GemvOnAll gemv(bench, shape);
                       return run(gemv);
                     }});
  };
  add("gemv.compute", [](GemvOnAll& gemv) { return gemv.compute(); });
  add("gemv.comm", [](GemvOnAll& gemv) { return gemv.communicate(); });
  add("gemv.bulk", [](GemvOnAll& gemv) { return gemv.bulk(); });
  add_fused(plan, shape, "gemv.fused", Order::remote_first, usual_occupancy, depth, cases);
}

}  // namespace

void add_gemv(const Plan& plan, Cases& cases) {
  for (const int rows_per_wg : {8, 16, 32, 64, 128}) {
    const int unit = plan.gpus * rows_per_wg;  // each GPU owns whole slices
    const auto up = [&](int m) { return (plan.at_most(m, 512) + unit - 1) / unit * unit; };
    const Depth depth = rows_per_wg == 32 ? Depth::quick : Depth::full;
    add_shape(plan, {up(4096), 2048, rows_per_wg}, depth, cases);
    add_shape(plan, {up(8192), 8192, rows_per_wg}, depth, cases);
    add_shape(plan, {up(16384), 1024, rows_per_wg}, depth, cases);
    add_shape(plan, {up(32768), 4096, rows_per_wg}, depth, cases);
  }
  const int unit = plan.gpus * 32;
  const Shape shape{(plan.at_most(32768, 512) + unit - 1) / unit * unit, 4096, 32};
  add_fused(plan, shape, "gemv.fused_local_first", Order::local_first, usual_occupancy, Depth::full,
            cases);
  for (const int occupancy : {1, 2, 3}) {
    add_fused(plan, shape, "gemv.fused", Order::remote_first, occupancy, Depth::full, cases);
  }
}

}  // namespace calibration
