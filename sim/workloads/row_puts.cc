#include "sim/workloads/row_puts.h"

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {
namespace {

// Of one GPU, rows beyond so many are put several by one item: each is an event.
constexpr std::int64_t kMostItems = 8192;

std::int64_t rows_of_an_item(std::int64_t rows) {
  return std::max<std::int64_t>(1, round_up(rows, kMostItems));
}

class RowPutsRun : RowLowering {
 public:
  RowPutsRun(TaskGraph& graph, const RowPuts& puts)
      : RowLowering(graph, puts.exchange), puts_(puts) {}

  std::vector<KernelId> lower() {
    for (std::uint32_t i = 0; i < ranks_ * ranks_; ++i) {
      const bool own = i / ranks_ == i % ranks_;
      here_.push_back(own ? LatchId::none() : graph_.add_latch(1));
    }
    const auto first = static_cast<std::uint32_t>(graph_.kernels.size());
    std::vector<KernelId> kernels;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) kernels.push_back(add_kernel(rank, first));
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

  // A WG is as large as a CU, and stands for equally many experts as the others.
  [[nodiscard]] CuRange cus() const {
    if (exchange_.cus > 0) return {.first = 0, .count = static_cast<std::uint32_t>(exchange_.cus)};
    if (puts_.experts == 0) return {};
    const std::int64_t of_a_wg = round_up(puts_.experts, spec().cus);
    return {.first = 0, .count = static_cast<std::uint32_t>(round_up(puts_.experts, of_a_wg))};
  }

  KernelId add_kernel(std::uint32_t rank, std::uint32_t first) {
    const Kernel kernel = begin(rank, cus(), puts_.at_once);
    add_puts(rank);
    if (puts_.packs) add_tellers();
    add_arrivals(rank);
    return end(rank, kernel, first, 1);
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
    told_.assign(ranks_, LatchId::none());
    for (std::uint32_t to = 0; to < ranks_; ++to) {
      if (to == rank) continue;
      const std::int64_t puts = std::max<std::int64_t>(1, round_up(rows(rank, to), together_));
      done_[to] = graph_.add_latch(static_cast<std::uint32_t>(puts));
      if (puts_.packs) told_[to] = graph_.add_latch(1);
      graph_.add_send(FusedSends::flag(gpu(to), here(to, rank), FusedSends::Ordered::yes));
    }
    for (std::int64_t first = 0; first < most; first += together_) {
      for (std::uint32_t step = 1; step <= ranks_; ++step) {
        add_put(rank, (rank + step) % ranks_, first);
      }
    }
  }

  // Where rows are counted as they leave, a wave waits for the last of a peer's and tells it, with
  // a fence of its own.
  void add_tellers() {
    for (std::uint32_t to = 0; to < ranks_; ++to) {
      if (!done_[to].is_none()) push({}, told_[to], done_[to]);
    }
  }

  // Rows from this one on. To a peer that gets none, one item says so.
  void add_put(std::uint32_t rank, std::uint32_t to, std::int64_t first) {
    const std::int64_t count = std::min(together_, rows(rank, to) - first);
    if (count <= 0) {
      if (first == 0 && to != rank) push({}, done_[to], LatchId::none());
      return;
    }
    const bool stored = to != rank && sends_.same_node(gpu(rank), gpu(to));
    const Work work = moving(exchange_.made_from, stored ? Bytes{} : exchange_.row, count);
    push(work, to == rank ? LatchId::none() : put(rank, to, count), LatchId::none());
  }

  // Between nodes each row is an entry of its own.
  LatchId put(std::uint32_t rank, std::uint32_t to, std::int64_t count) {
    const std::uint32_t from = gpu(rank);
    const Addressee peer{gpu(to), here(to, rank)};
    const LatchId out =
        sends_.send_slice(graph_, from, peer, exchange_.row.count() * count, 1, done_[to]);
    if (!sends_.same_node(from, peer.gpu)) {
      SIM_ASSERT(count <= UINT16_MAX);
      const std::size_t last = graph_.sends.size() - 1;
      Send send = graph_.sends[last];
      send.entries = static_cast<std::uint16_t>(count);
      graph_.sends.put(last, send);
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
        push(moving(exchange_.row, exchange_.row, std::min(together, came - first)),
             LatchId::none(), here(rank, from));
      }
    }
  }

  [[nodiscard]] Work moving(Bytes read, Bytes written, std::int64_t count) const {
    return copy_work(spec(), grid_.wg, read.count() * count, written.count() * count);
  }

  const RowPuts& puts_;
  std::vector<LatchId> here_;
  std::vector<LatchId> done_;  // of the rank being lowered, by peer: its rows are on their way
  std::vector<LatchId> told_;  // ... and a wave tells it so
  std::int64_t together_ = 1;  // rows of an item
};

}  // namespace

std::vector<KernelId> add_row_puts(TaskGraph& graph, const RowPuts& puts) {
  const std::size_t first_send = graph.sends.size();
  std::vector<KernelId> kernels = RowPutsRun(graph, puts).lower();
  graph.own_sends(first_send, puts.exchange.op);
  return kernels;
}

RowPutCounts count_row_puts(double rows, double ranks, bool packs) {
  const double pairs = ranks * ranks;
  return {.items = (packs ? 2 : 1) * rows + 2 * pairs, .sends = rows + pairs};
}

}  // namespace weft
