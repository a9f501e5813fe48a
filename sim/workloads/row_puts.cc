#include "sim/workloads/row_puts.h"

#include <algorithm>

#include "sim/core/round_up.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

// A wave moves a row. [P] DeepEP: 32 of them on a CU, a row's loads at once.
constexpr int kWavesOnCu = 32;
constexpr int kRegisters = 64;
constexpr int kLoadsInFlight = 8;
// Of one GPU, rows beyond so many are put several by one item: each is an event.
constexpr std::int64_t kMostItems = 8192;

WgShape wave_of(const GpuSpec& gpu) {
  return {.threads = gpu.wave_size,
          .registers_per_thread = kRegisters,
          .lds = bytes(0),
          .loads_in_flight = kLoadsInFlight};
}

std::int64_t rows_of_an_item(std::int64_t rows) {
  return std::max<std::int64_t>(1, round_up(rows, kMostItems));
}

class RowPutsRun {
 public:
  RowPutsRun(TaskGraph& graph, const RowPuts& puts)
      : graph_(graph),
        puts_(puts),
        options_(options_of_rows(puts.options)),
        grid_(grid_of_rows(puts.cluster.spec.gpu, puts.gpus.size(), puts.row)),
        sends_(options_, puts.cluster, grid_),
        ranks_(grid_.gpus) {}

  std::vector<KernelId> lower() {
    for (std::uint32_t i = 0; i < ranks_ * ranks_; ++i) {
      const bool own = i / ranks_ == i % ranks_;
      here_.push_back(own ? LatchId::none() : graph_.add_latch(1));
    }
    std::vector<KernelId> kernels;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  [[nodiscard]] std::int64_t rows(std::uint32_t from, std::uint32_t to) const {
    return puts_.rows[std::size_t{from} * ranks_ + to];
  }
  // At `to`: all rows of `from` are there.
  [[nodiscard]] LatchId here(std::uint32_t to, std::uint32_t from) const {
    return here_[std::size_t{to} * ranks_ + from];
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = sends_.kernel(GpuId(puts_.gpus[rank]), puts_.op, FusedSends::Wgs::all);
    const GpuSpec& gpu = puts_.cluster.spec.gpu;
    kernel.role = KernelRole::collective;
    kernel.work_list = WorkList::static_list;
    if (puts_.cus > 0) kernel.cus = {.first = 0, .count = static_cast<std::uint32_t>(puts_.cus)};
    kernel.max_grid =
        static_cast<std::uint32_t>(waves_on_cu(gpu, grid_.wg) * cus_in(kernel.cus, gpu.cus));
    kernel.first_item = static_cast<std::uint32_t>(graph_.items.size());
    add_puts(rank);
    add_arrivals(rank);
    kernel.items = static_cast<std::uint32_t>(graph_.items.size()) - kernel.first_item;
    kernel.team_first = static_cast<std::uint32_t>(graph_.kernels.size()) - rank;
    kernel.team_size = ranks_;
    return graph_.add_kernel(kernel, puts_.after[rank]);
  }

  // A row for each peer, then the next; those that stay are moved as well.
  void add_puts(std::uint32_t rank) {
    std::int64_t all = 0;
    std::int64_t most = 1;
    for (std::uint32_t to = 0; to < ranks_; ++to) {
      all += rows(rank, to);
      most = std::max(most, rows(rank, to));
    }
    together_ = rows_of_an_item(all);
    done_.assign(ranks_, LatchId::none());
    for (std::uint32_t to = 0; to < ranks_; ++to) {
      if (to == rank) continue;
      const std::int64_t puts = std::max<std::int64_t>(1, round_up(rows(rank, to), together_));
      done_[to] = graph_.add_latch(static_cast<std::uint32_t>(puts));
      graph_.add_send(FusedSends::flag(puts_.gpus[to], here(to, rank), FusedSends::Ordered::yes));
    }
    for (std::int64_t first = 0; first < most; first += together_) {
      for (std::uint32_t step = 1; step <= ranks_; ++step) {
        add_put(rank, (rank + step) % ranks_, first);
      }
    }
  }

  // Rows from this one on. To a peer that gets none, one item says so.
  void add_put(std::uint32_t rank, std::uint32_t to, std::int64_t first) {
    const std::int64_t count = std::min(together_, rows(rank, to) - first);
    if (count <= 0) {
      if (first == 0 && to != rank) push({}, done_[to], LatchId::none());
      return;
    }
    const bool stored = to != rank && sends_.same_node(puts_.gpus[rank], puts_.gpus[to]);
    const Work work = moving(puts_.made_from, stored ? Bytes{} : puts_.row, count);
    push(work, to == rank ? LatchId::none() : put(rank, to, count), LatchId::none());
  }

  // Between nodes each row is an entry of its own.
  LatchId put(std::uint32_t rank, std::uint32_t to, std::int64_t count) {
    const std::uint32_t from = puts_.gpus[rank];
    const Addressee peer{puts_.gpus[to], here(to, rank)};
    const LatchId out =
        sends_.send_slice(graph_, from, peer, puts_.row.count() * count, 1, done_[to]);
    if (!sends_.same_node(from, peer.gpu)) {
      graph_.sends.back().entries = static_cast<std::uint16_t>(count);
    }
    return out;
  }

  // What has come from each, once its flag is there: moved row by row, or only waited for.
  void add_arrivals(std::uint32_t rank) {
    std::int64_t all = 0;
    for (std::uint32_t from = 0; from < ranks_; ++from) all += rows(from, rank);
    const std::int64_t together = rows_of_an_item(all);
    for (std::uint32_t step = 1; step < ranks_; ++step) {
      const std::uint32_t from = (rank + ranks_ - step) % ranks_;
      const std::int64_t came = puts_.packs ? rows(from, rank) : 0;
      if (came == 0) push({}, LatchId::none(), here(rank, from));
      for (std::int64_t first = 0; first < came; first += together) {
        push(moving(puts_.row, puts_.row, std::min(together, came - first)), LatchId::none(),
             here(rank, from));
      }
    }
  }

  [[nodiscard]] Work moving(Bytes read, Bytes written, std::int64_t count) const {
    return copy_work(puts_.cluster.spec.gpu, grid_.wg, read.count() * count,
                     written.count() * count);
  }

  void push(const Work& work, LatchId counts_down, LatchId waits_for) {
    graph_.items.push_back({.counts_down = counts_down,
                            .waits_for = waits_for,
                            .work = graph_.add_work(work) & 0xFFU,
                            .scale = Item::kUnit});
  }

  TaskGraph& graph_;
  const RowPuts& puts_;
  OverlapOptions options_;
  Grid grid_;
  FusedSends sends_;
  std::uint32_t ranks_;
  std::vector<LatchId> here_;
  std::vector<LatchId> done_;  // of the rank being lowered, by peer: its rows are on their way
  std::int64_t together_ = 1;  // rows of an item
};

}  // namespace

OverlapOptions options_of_rows(OverlapOptions options) {
  options.fused = {};
  return options;
}

Grid grid_of_rows(const GpuSpec& gpu, std::size_t ranks, Bytes row) {
  Grid grid;
  grid.gpus = static_cast<std::uint32_t>(ranks);
  grid.wg = wave_of(gpu);
  grid.result_bytes = row.count();
  return grid;
}

int waves_on_cu(const GpuSpec& gpu, const WgShape& wave) {
  return std::min(kWavesOnCu, resident(gpu, wave, {}));
}

std::vector<KernelId> add_row_puts(TaskGraph& graph, const RowPuts& puts) {
  const std::size_t first_send = graph.sends.size();
  std::vector<KernelId> kernels = RowPutsRun(graph, puts).lower();
  graph.own_sends(first_send, puts.op);
  return kernels;
}

RowPutCounts count_row_puts(double rows, double ranks, bool packs) {
  const double pairs = ranks * ranks;
  return {.items = (packs ? 2 : 1) * rows + 2 * pairs, .sends = rows + pairs};
}

}  // namespace weft
