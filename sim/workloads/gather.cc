#include "sim/workloads/gather.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "sim/cache/rows.h"
#include "sim/core/rng.h"
#include "sim/core/round_up.h"
#include "sim/gpu_model/memory_law.h"

namespace weft {
namespace {

constexpr std::int64_t kSampled = std::int64_t{1} << 21U;  // rows looked up or streamed in all
constexpr std::int64_t kWalkers = std::int64_t{1} << 16U;  // the most WGs that run at once
constexpr std::int64_t kFull = 4;  // lookups per row of a cache to fill it, all but e^-4 of it
constexpr std::uint64_t kNoRow = UINT64_MAX;

constexpr std::int64_t kStep = 1 << 16;  // mean length of a step
// Standard deviation of one step's length: WGs of a CU (H200) differ by 0.9 % after 512 steps.
constexpr double kStepSpread = 0.2;

// A step's length, drawn from a uniform distribution with this relative standard deviation.
std::int64_t spread(Rng& rng, double deviation) {
  const auto width = static_cast<std::int64_t>(std::sqrt(3.0) * deviation * kStep);
  return kStep + rng.between(-width, width);
}

// A WG on its way through its rows.
struct Walker {
  std::int64_t time;
  std::int64_t slot;
  std::int64_t wg;
  std::int64_t round;
  std::int64_t looked_up;  // lookups done for each of the round's pooled rows
  std::int64_t steps;
  bool operator>(const Walker& other) const {
    return time != other.time ? time > other.time : slot > other.slot;
  }
};

class Sampler {
 public:
  Sampler(const GatherWalk& walk, const GpuSpec& gpu)
      : walk_(walk),
        cus_(gpu.cus),
        side_(std::min(gpu.memory.side_cache.count() / walk.row_bytes, 2 * kSampled)),
        rng_(0, "gather"),
        draw_({.table_rows = walk.rows_per_table, .zipf = walk.zipf}) {
    const std::int64_t dies = std::min<std::int64_t>(gpu.l2.dies, cus_);
    const std::int64_t rows = kept_on_a_die(gpu.l2).count() / walk.row_bytes;
    // A die never fills more than it looks up.
    l2_.assign(static_cast<std::size_t>(dies),
               cache::RowCache(std::min(rows, 2 * kSampled / dies)));
    for (std::int64_t cu = 0; cu < cus_; ++cu) pace_.push_back(spread(rng_, walk.unevenness));
    l1_.assign(static_cast<std::size_t>(cus_),
               cache::RowCache(gpu.gather.l1.count() / walk.row_bytes));
  }

  RowsFound run() {
    if (walk_.l2_is_warm) warm_up();
    const std::int64_t slots = std::min({walk_.wgs, cus_ * walk_.on_cu, kWalkers});
    for (; next_wg_ < slots; ++next_wg_) waiting_.push({next_wg_, next_wg_, next_wg_, 0, 0, 0});
    while (!waiting_.empty() && looked_up_ + streamed_rows_ < kSampled) {
      Walker walker = waiting_.top();
      waiting_.pop();
      step(walker);
      if (walker.wg < walk_.wgs) waiting_.push(walker);
    }
    const auto all = static_cast<double>(std::max<std::int64_t>(1, looked_up_));
    return {.in_l1 = static_cast<double>(in_l1_) / all,
            .in_l2 = static_cast<double>(in_l2_) / all,
            .in_side_cache = static_cast<double>(in_side_) / all};
  }

 private:
  // Fills the caches with what kernels like this one have left: they visited the tables in the same
  // order, so the first WGs of this kernel find their rows only if there are one or a few tables.
  void warm_up() {
    std::int64_t rows = side_.rows();
    for (const cache::RowCache& l2 : l2_) rows += l2.rows();
    const std::int64_t of_a_wg = walk_.rows_per_wg * walk_.pooling;
    const std::int64_t wgs = std::min(round_up(kFull * rows, of_a_wg), round_up(kSampled, of_a_wg));
    // Ends at the end of a kernel, with the last table.
    const std::int64_t first = walk_.wgs - wgs % walk_.wgs;
    for (std::int64_t i = 0; i < wgs; ++i) {
      const std::int64_t wg = (first + i) % walk_.wgs;
      for (std::int64_t row = 0; row < walk_.rows_per_wg; ++row) {
        const std::int64_t table = table_of(wg, row);
        for (int lookup = 0; lookup < walk_.pooling; ++lookup) look_up_below_l1(wg, row_of(table));
      }
    }
    in_l2_ = 0;
    in_side_ = 0;
  }

  void step(Walker& walker) {
    ++walker.steps;
    const auto upto = std::min(
        walk_.pooling,
        static_cast<std::int64_t>(std::floor(static_cast<double>(walker.steps) * walk_.in_flight)));
    const std::int64_t first = walker.round * walk_.rows_at_once;
    const std::int64_t last = std::min(walk_.rows_per_wg, first + walk_.rows_at_once);
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t table = table_of(walker.wg, row);
      for (std::int64_t i = walker.looked_up; i < upto; ++i) look_up(walker.slot, table);
    }
    walker.looked_up = upto;
    const std::int64_t pace = pace_[static_cast<std::size_t>(walker.slot % cus_)];
    walker.time += spread(rng_, kStepSpread) * pace / kStep;
    if (walker.looked_up == walk_.pooling) next_round(walker);
  }

  void next_round(Walker& walker) {
    walker.looked_up = 0;
    walker.steps = 0;
    if (++walker.round * walk_.rows_at_once < walk_.rows_per_wg) return;
    walker.round = 0;
    walker.wg = next_wg_++;
    if (walk_.fences) l1_of(walker.slot).forget();
  }

  [[nodiscard]] std::int64_t table_of(std::int64_t wg, std::int64_t row) const {
    return walk_.walk == TableWalk::by_sample ? (wg * walk_.rows_per_wg + row) % walk_.tables
                                              : wg / walk_.wgs_of_a_table % walk_.tables;
  }

  void look_up(std::int64_t slot, std::int64_t table) {
    const std::uint64_t row = row_of(table);
    ++looked_up_;
    streamed_ += std::min(walk_.streamed, static_cast<double>(kSampled));
    for (; streamed_ >= 1; --streamed_) stream();
    if (l1_of(slot).look_up(row)) {
      ++in_l1_;
      return;
    }
    look_up_below_l1(slot, row);
  }

  void look_up_below_l1(std::int64_t slot, std::uint64_t row) {
    cache::RowCache& l2 = l2_[static_cast<std::size_t>(slot % cus_) % l2_.size()];
    if (l2.look_up(row)) {
      ++in_l2_;
    } else if (side_.look_up(row)) {
      ++in_side_;
    }
  }

  std::uint64_t row_of(std::int64_t table) {
    return static_cast<std::uint64_t>(table * walk_.rows_per_table + draw_.row(rng_()));
  }

  // A row's worth of streamed bytes, never used again, passes a die; the next one the next die.
  void stream() {
    ++streamed_rows_;
    const auto n = static_cast<std::uint64_t>(streamed_rows_);
    const std::uint64_t row = kNoRow - n;
    l2_[n % l2_.size()].look_up(row);
    side_.look_up(row);
  }

  cache::RowCache& l1_of(std::int64_t slot) { return l1_[static_cast<std::size_t>(slot % cus_)]; }

  const GatherWalk& walk_;
  std::int64_t cus_;
  std::vector<cache::RowCache> l1_;  // by CU
  std::vector<cache::RowCache> l2_;  // by die
  cache::RowCache side_;
  std::vector<std::int64_t> pace_;  // by CU: mean length of its steps
  Rng rng_;
  cache::RowDraw draw_;  // draws a row of a table
  std::priority_queue<Walker, std::vector<Walker>, std::greater<>> waiting_;
  std::int64_t next_wg_ = 0;
  double streamed_ = 0;  // rows that are due to be streamed
  std::int64_t streamed_rows_ = 0;
  std::int64_t looked_up_ = 0;
  std::int64_t in_l1_ = 0;
  std::int64_t in_l2_ = 0;
  std::int64_t in_side_ = 0;
};

}  // namespace

// Remembers results: a scenario asks for the same walk several times, to count and for each mode.
RowsFound find_rows(const GatherWalk& walk, const GpuSpec& gpu) {
  struct Asked {
    GatherWalk walk;
    int cus;
    Bytes l1;
    L2Spec l2;
    Bytes side_cache;
    bool operator==(const Asked&) const = default;
  };
  thread_local std::optional<std::pair<Asked, RowsFound>> last;
  const Asked asked{walk, gpu.cus, gpu.gather.l1, gpu.l2, gpu.memory.side_cache};
  if (!last || !(last->first == asked)) last.emplace(asked, Sampler(walk, gpu).run());
  return last->second;
}

}  // namespace weft
