// Embedding + all-to-all. Each GPU has `tables` tables of its own and pools rows of them for every
// (sample of the global batch) x (table); then each GPU gets its part of the samples, of all
// tables.

#include <algorithm>
#include <cmath>
#include <vector>

#include "embedding_kernels.h"
#include "operator.h"

namespace calibration {
namespace {

struct Shape {
  int batch;
  int tables;
  int dim;
  int pooling;
  int rows_per_table;
  int rows_per_wg;
  int zipf_percent = 0;  // row x of a table is asked for as often as (x + 1)^(-zipf_percent / 100)

  std::size_t pooled_rows() const {
    return static_cast<std::size_t>(batch) * static_cast<std::size_t>(tables);
  }
  std::size_t results() const { return pooled_rows() * static_cast<std::size_t>(dim); }
};

constexpr std::uint32_t table_seed = 100;
constexpr std::uint32_t index_seed = 200;

// Which row of a table the i-th look-up of a GPU asks for.
class Draws {
 public:
  explicit Draws(const Shape& shape) : rows_(static_cast<std::uint32_t>(shape.rows_per_table)) {
    if (shape.zipf_percent == 0) {
      return;
    }
    double all = 0;
    std::vector<double> sums;
    for (int row = 0; row < shape.rows_per_table; ++row) {
      sums.push_back(all += std::pow(row + 1, -shape.zipf_percent / 100.0));
    }
    for (const double sum : sums) {
      up_to_.push_back(static_cast<std::uint32_t>(sum / all * UINT32_MAX));
    }
  }

  bool are_even() const { return up_to_.empty(); }
  std::uint32_t row(int gpu, std::size_t lookup) const {
    const std::uint32_t drawn = mixed(index_seed + static_cast<unsigned>(gpu), lookup);
    if (are_even()) {
      return drawn % rows_;
    }
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), drawn);
    return std::min(static_cast<std::uint32_t>(found - up_to_.begin()), rows_ - 1);
  }

 private:
  std::uint32_t rows_;
  std::vector<std::uint32_t> up_to_;  // the rows up to this one, of 2^32 draws
};

struct Fusion {
  const char* part = "fused";
  Order order = Order::remote_first;
  int occupancy = pooling_occupancy;
  int flags_per_destination = 1;
};

class EmbeddingAllToAll final : public Operator<float> {
 public:
  EmbeddingAllToAll(const Bench& bench, const Shape& shape)
      : Operator(bench, shape.results(), Reach::peers),
        shape_(shape),
        draws_(shape),
        tables_(machine(), table_elements(shape), Reach::local),
        indices_(machine(), shape.pooled_rows() * static_cast<std::size_t>(shape.pooling),
                 Reach::local),
        pooled_(machine(), shape.results(), Reach::local),
        grid_(limit_occupancy(machine(), pool, {.wgs = slices_per_destination() * machine().size()},
                              pooling_occupancy)) {
    for (int g = 0; g < machine().size(); ++g) {
      const Gpu& gpu = machine().gpu(g);
      fill_test_data(gpu, tables_[g], tables_.count(), table_seed + static_cast<unsigned>(g));
      if (draws_.are_even()) {
        fill_indices(gpu, indices_[g], indices_.count(), index_seed + static_cast<unsigned>(g),
                     static_cast<std::uint32_t>(shape.rows_per_table));
      } else {
        copy_indices(g);
      }
    }
    machine().synchronize();
  }

  Measured fused(const Fusion& fusion, int wgs) const {
    const std::size_t flags = static_cast<std::size_t>(machine().size()) *
                              static_cast<std::size_t>(fusion.flags_per_destination);
    const Buffers<Flag> arrived(machine(), flags, Reach::peers);
    const Buffers<unsigned> counters(machine(), flags, Reach::local);
    arrived.fill_bytes(0);
    counters.fill_bytes(0);
    const Grid grid = persistent_grid(machine(), pool_and_send, {.wgs = wgs}, fusion.occupancy);
    const auto queue = [&](unsigned run) {
      for (int g = 0; g < machine().size(); ++g) {
        PooledSending sending{
            .order = {machine().size(), g, slices_per_destination(), fusion.order},
            .flags_per_destination = fusion.flags_per_destination,
            .out = {},
            .flags = arrived.all(),
            .counters = counters[g],
            .run = run};
        for (int to = 0; to < machine().size(); ++to) {
          sending.out.at[to] = reinterpret_cast<float4*>(results()[to]);
        }
        machine().gpu(g).use();
        launch(pool_and_send, grid, machine().gpu(g).main, lookup(g), sending);
      }
    };
    return time_fused({.queue = queue,
                       .what = "fused embedding + all-to-all",
                       .kernel = facts_of(machine().gpu(0), pool_and_send, grid)});
  }

 private:
  void copy_indices(int g) {
    std::vector<std::uint32_t> drawn(indices_.count());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      drawn[i] = draws_.row(g, i);
    }
    machine().gpu(g).use();
    check(hipMemcpy(indices_[g], drawn.data(), drawn.size() * sizeof drawn[0],
                    hipMemcpyHostToDevice));
  }

  static std::size_t table_elements(const Shape& shape) {
    return elements(shape.tables, shape.rows_per_table) * static_cast<std::size_t>(shape.dim);
  }

  int slices_per_destination() const {
    return shape_.batch / machine().size() * shape_.tables / shape_.rows_per_wg;
  }

  Lookup lookup(int g) const {
    return {.table_rows = reinterpret_cast<const float4*>(tables_[g]),
            .indices = indices_[g],
            .tables = static_cast<unsigned>(shape_.tables),
            .lanes = static_cast<unsigned>(shape_.dim / 4),
            .pooling = static_cast<unsigned>(shape_.pooling),
            .rows_per_table = static_cast<unsigned>(shape_.rows_per_table),
            .rows_per_wg = static_cast<unsigned>(shape_.rows_per_wg)};
  }

  void queue_kernel() const override {
    for (int g = 0; g < machine().size(); ++g) {
      machine().gpu(g).use();
      launch(pool, grid_, machine().gpu(g).main, lookup(g), reinterpret_cast<float4*>(pooled_[g]));
    }
  }

  KernelFacts kernel_facts() const override { return facts_of(machine().gpu(0), pool, grid_); }

  Exchange exchange(const Buffers<float>& to) const override {
    return {.what = Collective::all_to_all,
            .element = Element::float32,
            .bytes = shape_.results() * sizeof(float),
            .from = [&](int g) { return pooled_[g]; },
            .to = [&](int g) { return to[g]; }};
  }

  // Column `d` of pooled row `row` of GPU `g`, summed as the kernel does.
  double expected(int g, std::size_t row, std::size_t d) const {
    float sum = 0;
    const std::size_t table = row % static_cast<std::size_t>(shape_.tables);
    const auto pooling = static_cast<std::size_t>(shape_.pooling);
    for (std::size_t p = 0; p < pooling; ++p) {
      const std::size_t index = draws_.row(g, row * pooling + p);
      const std::size_t table_row = table * static_cast<std::size_t>(shape_.rows_per_table) + index;
      sum += test_value(table_seed + static_cast<unsigned>(g),
                        table_row * static_cast<std::size_t>(shape_.dim) + d);
    }
    return static_cast<double>(sum);
  }

  void clear_kernel() const override { pooled_.fill_bytes(0xFF); }

  void verify_kernel() const override {
    const auto dim = static_cast<std::size_t>(shape_.dim);
    for (int g = 0; g < machine().size(); ++g) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::size_t element = i == 0 ? shape_.results() - 1 : mixed(i, i) % shape_.results();
        expect_close(machine().gpu(g), pooled_[g], element,
                     expected(g, element / dim, element % dim), 0, "pooled embedding");
      }
    }
  }

  void verify() const override {
    const auto gpus = static_cast<std::size_t>(machine().size());
    const std::size_t per_source = shape_.results() / gpus;
    const auto dim = static_cast<std::size_t>(shape_.dim);
    for (std::size_t to = 0; to < gpus; ++to) {
      for (std::size_t source = 0; source < gpus; ++source) {
        const std::size_t i = mixed(7, source) % per_source;
        const std::size_t element = to * per_source + i;  // of what `source` pooled
        expect_close(machine().gpu(static_cast<int>(to)), results()[static_cast<int>(to)],
                     source * per_source + i,
                     expected(static_cast<int>(source), element / dim, element % dim), 0,
                     "embedding + all-to-all");
      }
    }
  }

  Shape shape_;
  Draws draws_;
  Buffers<float> tables_;
  Buffers<std::uint32_t> indices_;
  Buffers<float> pooled_;  // [sample of the batch][table][dim]
  Grid grid_;
};

OperatorLine line_for(const Plan& plan, const Shape& shape, int occupancy) {
  OperatorLine line{.operator_name = "emb",
                    .plan = plan,
                    .shape = {{"batch", shape.batch},
                              {"tables", shape.tables},
                              {"dim", shape.dim},
                              {"pooling", shape.pooling},
                              {"rows_per_table", shape.rows_per_table},
                              {"rows_per_wg", shape.rows_per_wg},
                              {"dtype_bytes", 4}},
                    .kernel = {{"threads", threads_per_wg},
                               {"loads_in_flight", pooling_loads},
                               {"occupancy", occupancy}}};
  if (shape.zipf_percent != 0) {
    line.shape.emplace_back("zipf_percent", shape.zipf_percent);
  }
  return line;
}

void add_fused(const Plan& plan, const Shape& shape, const Fusion& fusion, Depth depth,
               Cases& cases) {
  const int slices = shape.batch * shape.tables / shape.rows_per_wg;
  const int wgs = std::min(fusion.occupancy * plan.units, slices);
  JsonLine line = line_for(plan, shape, fusion.occupancy).with_kernel(fusion.part);
  line.set("wgs", wgs);
  if (fusion.flags_per_destination != 1) {
    line.set("flags_per_destination", fusion.flags_per_destination);
  }
  cases.push_back({line, depth, [=](const Bench& bench) {
                     return EmbeddingAllToAll(bench, shape).fused(fusion, wgs);
                   }});
}

void add_shape(const Plan& plan, const Shape& shape, Depth depth, Cases& cases) {
  add_unfused(
      line_for(plan, shape, pooling_occupancy), depth,
      [=](const Bench& bench) { return EmbeddingAllToAll(bench, shape); }, cases);
  for (const Fusion& fusion :
       {Fusion{}, Fusion{.part = "fused_local_first", .order = Order::local_first},
        Fusion{.part = "fused_low_occ", .occupancy = 2}}) {
    add_fused(plan, shape, fusion, depth, cases);
  }
}

}  // namespace

void add_embedding(const Plan& plan, Cases& cases) {
  const Shape usual{.batch = 2048,
                    .tables = 32,
                    .dim = 256,
                    .pooling = 32,
                    .rows_per_table = 20000,
                    .rows_per_wg = 32};
  std::vector<Shape> shapes(20, usual);
  shapes[1].batch = 512;
  shapes[1].tables = 16;
  shapes[2].tables = 64;
  shapes[3].batch = 4096;
  shapes[3].tables = 16;
  shapes[4].pooling = 1;
  shapes[5].pooling = 16;
  shapes[6].pooling = 128;
  shapes[7].dim = 64;
  shapes[8].rows_per_wg = 4;
  shapes[9].rows_per_wg = 128;
  shapes[10].pooling = 4;
  shapes[11].pooling = 64;
  shapes[12].batch = 1024;
  shapes[13].rows_per_table = 500000;  // no cache holds much of them
  const int hot[] = {60, 90, 105, 120};
  for (std::size_t i = 0; i < 4; ++i) {
    shapes[14 + i].rows_per_table = 500000;
    shapes[14 + i].zipf_percent = hot[i];
  }
  shapes[18].zipf_percent = 60;
  shapes[19].zipf_percent = 105;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].batch = plan.at_most(shapes[i].batch, 32);
    shapes[i].rows_per_table = plan.at_most(shapes[i].rows_per_table, 100);
    // Whole slices for each GPU, also where their number is no power of two.
    const int unit = plan.gpus * std::max(1, shapes[i].rows_per_wg / shapes[i].tables);
    shapes[i].batch = (shapes[i].batch + unit - 1) / unit * unit;
    add_shape(plan, shapes[i], i < 2 ? Depth::quick : Depth::full, cases);
  }
  for (const int flags : {4, 64, 512}) {
    add_fused(plan, shapes[0], {.flags_per_destination = flags}, Depth::full, cases);
  }
  for (const int occupancy : {1, 3, 4, 5}) {
    add_fused(plan, shapes[0], {.occupancy = occupancy}, Depth::full, cases);
  }
}

}  // namespace calibration
