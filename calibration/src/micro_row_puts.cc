// Dispatch and combine of experts for low latency, row by row. Each run of a dispatch makes what
// the combine after it takes home, so that every row is checked: home come the rows themselves.

#include <algorithm>
#include <cmath>
#include <vector>

#include "buffers.h"
#include "data.h"
#include "kernels.h"
#include "row_put_kernels.h"
#include "statistics.h"
#include "suite.h"

namespace calibration {
namespace {

constexpr std::uint32_t row_seed = 300;
constexpr std::uint32_t choice_seed = 400;
constexpr int most_warps = most_threads / lanes_of_a_row - 1;  // as DeepEP, which has one to spare
constexpr std::size_t shared_bytes = 4 * lanes_of_a_row * sizeof(unsigned);

RowPutShape shape_of(const Plan& plan, int tokens, int hidden, int experts, int top_k, bool casts) {
  RowPutShape shape{};
  shape.gpus = plan.gpus;
  shape.tokens = tokens;
  shape.top_k = top_k;
  shape.experts = experts;
  shape.groups = (experts + plan.units - 1) / plan.units;
  shape.warps = most_warps / shape.groups;
  shape.words = static_cast<unsigned>(hidden) / 8;
  const unsigned scales = (static_cast<unsigned>(hidden) / elements_of_a_scale + 3) / 4;
  shape.row_words = 1 + (casts ? shape.words / 2 + scales : shape.words);
  shape.casts = casts;
  return shape;
}

class RowPutting {
 public:
  RowPutting(const Bench& bench, const RowPutShape& shape)
      : bench_(bench),
        machine_(bench.machine),
        shape_(shape),
        grid_{.wgs = (shape.experts + shape.groups - 1) / shape.groups,
              .threads = shape.groups * shape.warps * lanes_of_a_row,
              .shared_bytes = shared_bytes},
        rows_(machine_, count(shape.tokens) * shape.words, Reach::local),
        chosen_(machine_, count(shape.tokens) * count(shape.top_k), Reach::local),
        staged_(machine_, count(shape.tokens) * shape.row_words, Reach::local),
        slots_(machine_, count(shape.experts), Reach::local),
        put_(machine_, count(shape.experts), Reach::local),
        out_box_(machine_, count(shape.experts) * count(shape.tokens) * shape.row_words,
                 Reach::peers),
        out_flags_(machine_, count(shape.experts), Reach::peers),
        packed_(machine_, count(shape.here()) * count(shape.room()) * shape.row_words,
                Reach::local),
        taken_(machine_, count(shape.here()), Reach::local),
        came_(machine_, count(shape.experts), Reach::local),
        made_(machine_, count(shape.here()) * count(shape.room()) * shape.words, Reach::local),
        home_box_(machine_, count(shape.experts) * count(shape.tokens) * shape.words, Reach::peers),
        home_flags_(machine_, count(shape.experts), Reach::peers),
        sums_(machine_, count(shape.tokens) * shape.words, Reach::local),
        passed_(machine_, 2, Reach::local),
        out_clocks_(machine_, count(grid_.wgs) * parts, Reach::local),
        home_clocks_(machine_, count(grid_.wgs) * parts, Reach::local) {
    for (const auto* zeroed : {&slots_, &put_, &out_flags_, &taken_, &home_flags_, &passed_}) {
      zeroed->fill_bytes(0);
    }
    for (int g = 0; g < machine_.size(); ++g) {
      fill_test_bf16(machine_.gpu(g), reinterpret_cast<bf16_bits*>(rows_[g]), rows_.count() * 8,
                     row_seed + static_cast<unsigned>(g));
      choose(g);
      persistent_grid(machine_, put_rows, grid_, 1);
      persistent_grid(machine_, put_rows_home, grid_, 1);
    }
    machine_.synchronize();
  }

  Measured dispatch() {
    Work work;
    work.queue = [&](unsigned) { queue_dispatch(); };
    work.finish = [&](unsigned) {
      queue_cast_back();
      queue_combine();
    };
    return time(work, out_clocks_);
  }

  Measured combine() {
    Work work;
    work.queue = [&](unsigned) { queue_combine(); };
    work.prepare = [&] {
      queue_dispatch();
      queue_cast_back();
    };
    return time(work, home_clocks_);
  }

 private:
  static std::size_t count(int number) { return static_cast<std::size_t>(number); }

  // Each token's experts, all different, the same number from each GPU in the long run.
  static int chosen(const RowPutShape& shape, int g, int token, int k) {
    const auto one = static_cast<std::uint64_t>(token) * count(shape.top_k);
    const std::uint32_t seed = choice_seed + static_cast<unsigned>(g);
    std::vector<int> taken;
    for (std::uint64_t tries = 0;; ++tries) {
      const int expert =
          static_cast<int>(mixed(seed, one * 64 + tries) % static_cast<unsigned>(shape.experts));
      if (std::find(taken.begin(), taken.end(), expert) == taken.end()) {
        taken.push_back(expert);
      }
      if (taken.size() == count(k + 1)) {
        return expert;
      }
    }
  }

  void choose(int g) {
    std::vector<int> all;
    for (int token = 0; token < shape_.tokens; ++token) {
      for (int k = 0; k < shape_.top_k; ++k) {
        all.push_back(chosen(shape_, g, token, k));
      }
    }
    machine_.gpu(g).use();
    check(hipMemcpy(chosen_[g], all.data(), all.size() * sizeof all[0], hipMemcpyHostToDevice));
  }

  RowPutShape shape_on(int g) const {
    RowPutShape shape = shape_;
    shape.me = g;
    return shape;
  }

  void queue_dispatch() {
    ++dispatches_;
    for (int g = 0; g < machine_.size(); ++g) {
      machine_.gpu(g).use();
      launch(put_rows, grid_, machine_.gpu(g).main,
             RowsOut{shape_on(g), rows_[g], chosen_[g], staged_[g], slots_[g], put_[g],
                     out_box_.all(), out_flags_.all(), packed_[g], taken_[g], came_[g], passed_[g],
                     out_clocks_[g], dispatches_});
    }
  }

  void queue_cast_back() {
    for (int g = 0; g < machine_.size(); ++g) {
      machine_.gpu(g).use();
      launch(cast_back, {.wgs = shape_.experts}, machine_.gpu(g).main, shape_on(g), packed_[g],
             came_[g], reinterpret_cast<bf16_bits*>(made_[g]));
    }
  }

  void queue_combine() {
    ++combines_;
    for (int g = 0; g < machine_.size(); ++g) {
      machine_.gpu(g).use();
      launch(put_rows_home, grid_, machine_.gpu(g).main,
             RowsHome{shape_on(g), made_[g], packed_[g], came_[g], chosen_[g], home_box_.all(),
                      home_flags_.all(), sums_[g], passed_[g] + 1, home_clocks_[g], combines_});
    }
  }

  // Each run's time, and when, after it began, the last WG of a GPU was through with each part.
  Measured time(Work& work, const Buffers<long long>& clocks) {
    std::vector<std::vector<double>> us(parts);
    const auto before = work.prepare;
    work.prepare = [=, this] {
      sums_.fill_bytes(0xFF);
      before();
    };
    work.verify = [&] {
      verify();
      for (int g = 0; g < machine_.size(); ++g) {
        read_clocks(machine_.gpu(g), clocks[g], us);
      }
    };
    Measured measured(bench_.timer.behind_gate(work), facts_of(machine_.gpu(0), put_rows, grid_));
    const char* const names[parts] = {
        "", "rows_put_ns", "flags_set_ns", "grid_passed_ns", "flags_seen_ns", "ended_ns"};
    for (std::size_t part = rows_put; part < parts; ++part) {
      measured.seen.emplace_back(names[part], std::llround(1000 * summarize(us[part]).median));
    }
    return measured;
  }

  void read_clocks(const Gpu& gpu, const long long* from,
                   std::vector<std::vector<double>>& us) const {
    gpu.use();
    std::vector<long long> clocks(count(grid_.wgs) * parts);
    check(hipMemcpy(clocks.data(), from, clocks.size() * sizeof clocks[0], hipMemcpyDeviceToHost));
    int khz = 0;
    check(hipDeviceGetAttribute(&khz, hipDeviceAttributeClockRate, gpu.device));
    for (std::size_t part = rows_put; part < parts; ++part) {
      long long last = 0;
      for (std::size_t wg = 0; wg < count(grid_.wgs); ++wg) {
        last = std::max(last, clocks[wg * parts + part] - clocks[wg * parts]);
      }
      us[part].push_back(1000.0 * static_cast<double>(last) / std::max(khz, 1));
    }
  }

  // Home comes the row itself: the weights of its experts add up to 1.
  void verify() const {
    const double tolerance = shape_.casts ? 1.0 / 64 : 1.0 / 128;
    const std::size_t elements_of_a_row = shape_.words * std::size_t{8};
    for (int g = 0; g < machine_.size(); ++g) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::size_t all = count(shape_.tokens) * elements_of_a_row;
        const std::size_t element = i == 0 ? all - 1 : mixed(i, i) % all;
        expect_close_bf16(
            machine_.gpu(g), reinterpret_cast<const bf16_bits*>(sums_[g]), element,
            static_cast<double>(test_value(row_seed + static_cast<unsigned>(g), element)),
            tolerance, "rows put and brought home");
      }
    }
  }

  const Bench& bench_;
  const Machine& machine_;
  RowPutShape shape_;
  Grid grid_;
  Buffers<uint4> rows_;
  Buffers<int> chosen_;
  Buffers<uint4> staged_;
  Buffers<unsigned> slots_;
  Buffers<unsigned> put_;
  Buffers<uint4> out_box_;
  Buffers<Flag> out_flags_;
  Buffers<uint4> packed_;
  Buffers<unsigned> taken_;
  Buffers<Came> came_;
  Buffers<uint4> made_;
  Buffers<uint4> home_box_;
  Buffers<Flag> home_flags_;
  Buffers<uint4> sums_;
  Buffers<unsigned> passed_;  // of dispatches, of combines
  Buffers<long long> out_clocks_;
  Buffers<long long> home_clocks_;
  unsigned dispatches_ = 0;
  unsigned combines_ = 0;
};

void add(const Plan& plan, int tokens, int hidden, int experts, int top_k, bool casts, Cases& cases,
         Depth depth = Depth::full) {
  tokens = plan.at_most(tokens, 7);
  hidden = plan.at_most(hidden, 512);
  experts = plan.at_most(experts, 12) / plan.gpus * plan.gpus;
  top_k = plan.at_most(top_k, 3);
  const RowPutShape shape = shape_of(plan, tokens, hidden, experts, top_k, casts);
  for (const bool home : {false, true}) {
    JsonLine line = line_of(home ? "micro.row_puts_home" : "micro.row_puts", plan);
    line.set("tokens", tokens)
        .set("hidden", hidden)
        .set("experts", experts)
        .set("top_k", top_k)
        .set("bits", casts ? 8 : 16)
        .set("wgs", (experts + shape.groups - 1) / shape.groups)
        .set("threads", shape.groups * shape.warps * lanes_of_a_row);
    cases.push_back({line, depth, [=](const Bench& bench) {
                       RowPutting putting(bench, shape);
                       return home ? putting.combine() : putting.dispatch();
                     }});
  }
}

}  // namespace

void add_row_puts(const Plan& plan, Cases& cases) {
  add(plan, 128, 7168, 288, 8, true, cases, Depth::quick);  // as DeepEP measures it
  add(plan, 128, 7168, 288, 8, false, cases, Depth::quick);
  for (const int tokens : {8, 32, 64, 256}) {
    add(plan, tokens, 7168, 288, 8, true, cases);
  }
  for (const int top_k : {1, 2, 4}) {
    add(plan, 128, 7168, 288, top_k, true, cases);
  }
  for (const int hidden : {2048, 4096}) {
    add(plan, 128, hidden, 288, 8, true, cases);
  }
  for (const int experts : {32, 64, 128, 512}) {
    add(plan, 128, 4096, experts, 8, true, cases);
  }
}

}  // namespace calibration
