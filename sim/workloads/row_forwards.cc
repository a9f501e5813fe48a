#include "sim/workloads/row_forwards.h"

#include <algorithm>
#include <numeric>

#include "sim/core/round_up.h"

namespace weft {
namespace {

// Rows that share a flag. [P] DeepEP, config of its dispatch between nodes.
constexpr std::int64_t kRowsOfAChunk = 32;
// Those that one wave moves, one after another; fewer would be more events.
constexpr std::int64_t kRowsOfAnItem = 4;

// The c-th of `chunks` parts of so many rows.
std::int64_t part_of(std::int64_t rows, std::int64_t chunks, std::int64_t c) {
  return rows * (c + 1) / chunks - rows * c / chunks;
}

class RowForwardsRun : RowLowering {
 public:
  RowForwardsRun(TaskGraph& graph, const RowForwards& what)
      : RowLowering(graph, what.exchange),
        what_(what),
        per_node_(what.reached.per_node),
        nodes_(ranks_ / per_node_) {}

  std::vector<KernelId> lower() {
    add_latches();
    const auto all = static_cast<std::uint32_t>(exchange_.cus > 0 ? exchange_.cus : spec().cus);
    const std::uint32_t half = std::max(1U, all / 2);
    const auto first = static_cast<std::uint32_t>(graph_.kernels.size());
    std::vector<KernelId> made;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const Kernel sending = begin(rank, {.first = 0, .count = half});
      what_.home ? send_home(rank) : send_out(rank);
      finish(rank, sending, first);
      const Kernel receiving = begin(rank, {.first = half, .count = std::max(1U, all - half)});
      what_.home ? forward_sums(rank) : forward(rank);
      what_.home ? wait_for_sums(rank) : receive(rank);
      made.push_back(finish(rank, receiving, first));
    }
    return made;
  }

 private:
  [[nodiscard]] std::uint32_t node(std::uint32_t rank) const { return rank / per_node_; }
  // The rank of that node through which the tokens of `rank` pass.
  [[nodiscard]] std::uint32_t forwarder(std::uint32_t rank, std::uint32_t at) const {
    return at * per_node_ + rank % per_node_;
  }
  [[nodiscard]] std::int64_t rows(std::uint32_t rank, std::uint32_t at) const {
    return what_.reached.gpus[std::size_t{rank} * ranks_ + at];
  }
  [[nodiscard]] std::int64_t rows_of_node(std::uint32_t rank, std::uint32_t at) const {
    return what_.reached.nodes[std::size_t{rank} * nodes_ + at];
  }
  [[nodiscard]] std::int64_t chunks(std::uint32_t rank, std::uint32_t at) const {
    return std::max<std::int64_t>(1, round_up(rows_of_node(rank, at), kRowsOfAChunk));
  }
  [[nodiscard]] std::int64_t rows_of_chunk(std::uint32_t rank, std::uint32_t to,
                                           std::int64_t c) const {
    return part_of(rows(rank, to), chunks(rank, node(to)), c);
  }

  // A latch for each chunk of each pair of a rank and a node: it is at the forwarder, or all of its
  // sums are; and out, for each rank of the node: it is there.
  void add_latches() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (std::uint32_t at = 0; at < nodes_; ++at) {
        first_chunk_.push_back(at_node_.size());
        for (std::int64_t c = 0; c < chunks(rank, at); ++c) add_latches_of_chunk(rank, at, c);
      }
    }
    if (!what_.home) return;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      std::int64_t come = 0;
      for (std::uint32_t at = 0; at < nodes_; ++at) {
        if (at != node(rank)) come += chunks(rank, at);
      }
      home_.push_back(come == 0 ? LatchId::none()
                                : graph_.add_latch(static_cast<std::uint32_t>(come)));
    }
  }

  void add_latches_of_chunk(std::uint32_t rank, std::uint32_t at, std::int64_t c) {
    std::uint32_t parts = 0;
    for (std::uint32_t to = at * per_node_; to < (at + 1) * per_node_; ++to) {
      const bool some = rows_of_chunk(rank, to, c) > 0;
      parts += some ? 1 : 0;
      const bool comes = some && !what_.home && to != forwarder(rank, at);
      at_gpu_.push_back(comes ? graph_.add_latch(1) : LatchId::none());
    }
    if (what_.home) {
      at_node_.push_back(parts == 0 ? LatchId::none() : graph_.add_latch(parts));
    } else {
      at_node_.push_back(at == node(rank) ? LatchId::none() : graph_.add_latch(1));
    }
  }

  [[nodiscard]] std::size_t chunk(std::uint32_t rank, std::uint32_t at, std::int64_t c) const {
    return first_chunk_[std::size_t{rank} * nodes_ + at] + static_cast<std::size_t>(c);
  }
  [[nodiscard]] LatchId at_gpu(std::uint32_t rank, std::uint32_t to, std::int64_t c) const {
    return at_gpu_[chunk(rank, node(to), c) * per_node_ + to % per_node_];
  }

  // Of the two of a rank. One without items gets one that does nothing.
  KernelId finish(std::uint32_t rank, const Kernel& kernel, std::uint32_t first) {
    if (graph_.items.added() == 0) wait(LatchId::none(), LatchId::none());
    return end(rank, kernel, first, 2);
  }

  // Calls `visit(at, c)` for chunk after chunk, of every node in turn, the next one first.
  template <class Visit>
  void each_chunk(std::uint32_t rank, const Visit& visit) const {
    std::int64_t most = 0;
    for (std::uint32_t at = 0; at < nodes_; ++at) most = std::max(most, chunks(rank, at));
    for (std::int64_t c = 0; c < most; ++c) {
      for (std::uint32_t step = 1; step <= nodes_; ++step) {
        const std::uint32_t at = (node(rank) + step) % nodes_;
        if (c < chunks(rank, at)) visit(at, c);
      }
    }
  }

  // To other nodes as one put each chunk; to the GPUs of its own node at once.
  void send_out(std::uint32_t rank) {
    each_chunk(rank, [&](std::uint32_t at, std::int64_t c) {
      if (at == node(rank)) return hand_out(rank, rank, c, exchange_.made_from, LatchId::none());
      const std::int64_t count = part_of(rows_of_node(rank, at), chunks(rank, at), c);
      send(rank, {gpu(forwarder(rank, at)), at_node_[chunk(rank, at, c)]},
           {exchange_.made_from, exchange_.row, count}, LatchId::none());
    });
  }

  // Chunk c of `rank`, which is at `by`, to the GPUs of that node that want it.
  void hand_out(std::uint32_t rank, std::uint32_t by, std::int64_t c, Bytes read, LatchId waits) {
    const std::uint32_t first = node(by) * per_node_;
    for (std::uint32_t step = 1; step <= per_node_; ++step) {
      const std::uint32_t to = first + (by - first + step) % per_node_;
      const std::int64_t count = rows_of_chunk(rank, to, c);
      if (count == 0) continue;
      if (to == by) {
        keep({read, exchange_.row, count}, waits);
      } else {
        send(by, {gpu(to), at_gpu(rank, to, c)}, {read, Bytes{}, count}, waits);
      }
    }
  }

  // What ranks of other nodes with the same number send to this node.
  void forward(std::uint32_t rank) {
    each_source(rank, [&](std::uint32_t source, std::int64_t c) {
      if (source == rank) return;
      hand_out(source, rank, c, exchange_.row, at_node_[chunk(source, node(rank), c)]);
    });
  }

  // Calls `visit(source, c)` for the ranks of its number on all nodes, chunk after chunk.
  template <class Visit>
  void each_source(std::uint32_t rank, const Visit& visit) const {
    std::int64_t most = 0;
    for (std::uint32_t at = 0; at < nodes_; ++at) {
      most = std::max(most, chunks(forwarder(rank, at), node(rank)));
    }
    for (std::int64_t c = 0; c < most; ++c) {
      for (std::uint32_t step = 1; step <= nodes_; ++step) {
        const std::uint32_t source = forwarder(rank, (node(rank) + nodes_ - step) % nodes_);
        if (c < chunks(source, node(rank))) visit(source, c);
      }
    }
  }

  // Calls `visit(other, c)` for chunk after chunk of all ranks' tokens at the node of `rank`, the
  // next rank first. So what all need of a chunk is sent by all at about the same time.
  template <class Visit>
  void each_chunk_here(std::uint32_t rank, const Visit& visit) const {
    std::int64_t most = 0;
    for (std::uint32_t other = 0; other < ranks_; ++other) {
      most = std::max(most, chunks(other, node(rank)));
    }
    for (std::int64_t c = 0; c < most; ++c) {
      for (std::uint32_t step = 1; step <= ranks_; ++step) {
        const std::uint32_t other = (rank + step) % ranks_;
        if (c < chunks(other, node(rank)) && rows_of_chunk(other, rank, c) > 0) visit(other, c);
      }
    }
  }

  // Moves each chunk from where it has arrived.
  void receive(std::uint32_t rank) {
    each_chunk_here(rank, [&](std::uint32_t source, std::int64_t c) {
      if (forwarder(source, node(rank)) == rank) return;
      keep({exchange_.row, exchange_.row, rows_of_chunk(source, rank, c)}, at_gpu(source, rank, c));
    });
  }

  // What this GPU has made of others' tokens, to the forwarders of its node.
  void send_home(std::uint32_t rank) {
    each_chunk_here(rank, [&](std::uint32_t owner, std::int64_t c) {
      const std::uint32_t by = forwarder(owner, node(rank));
      const LatchId all = at_node_[chunk(owner, node(rank), c)];
      if (by == rank) return wait(all, LatchId::none());
      send(rank, {gpu(by), all}, {exchange_.made_from, Bytes{}, rows_of_chunk(owner, rank, c)},
           LatchId::none());
    });
  }

  // The sums of its node's GPUs, to the tokens' own.
  void forward_sums(std::uint32_t rank) {
    each_source(rank, [&](std::uint32_t owner, std::int64_t c) {
      std::int64_t read = 0;
      for (std::uint32_t at = 0; at < per_node_; ++at) {
        read += rows_of_chunk(owner, node(rank) * per_node_ + at, c);
      }
      const std::int64_t count =
          part_of(rows_of_node(owner, node(rank)), chunks(owner, node(rank)), c);
      const std::int64_t items = items_of(count);
      const LatchId out = owner == rank ? LatchId::none() : put(rank, owner, count, items);
      for (std::int64_t i = 0; i < items; ++i) {
        push_part(adding(), part_of(read, items, i), kRowsOfAChunk * per_node_, out,
                  at_node_[chunk(owner, node(rank), c)]);
      }
    });
  }

  // As many parts as all tokens have on the average, of as many rows as all GPUs of a node can
  // have.
  [[nodiscard]] Work adding() const {
    const Reached& reached = what_.reached;
    const auto parts = std::accumulate(reached.gpus.begin(), reached.gpus.end(), std::int64_t{0});
    const auto sums = std::accumulate(reached.nodes.begin(), reached.nodes.end(), std::int64_t{0});
    const std::int64_t read = kRowsOfAChunk * per_node_;
    return copy_work(spec(), grid_.wg, exchange_.row.count() * read,
                     exchange_.row.count() * read * sums / std::max<std::int64_t>(1, parts));
  }

  // A latch for the waves that add up, of which the last one puts all sums.
  LatchId put(std::uint32_t rank, std::uint32_t owner, std::int64_t count, std::int64_t items) {
    return sends_.send_slice(graph_, gpu(rank), {gpu(owner), home_[owner]}, size_of_rows(count),
                             static_cast<std::uint32_t>(items), LatchId::none());
  }

  void wait_for_sums(std::uint32_t rank) {
    if (!home_[rank].is_none()) wait(LatchId::none(), home_[rank]);
  }

  struct Moved {
    Bytes read;  // of a row
    Bytes written;
    std::int64_t rows;
  };
  static std::int64_t items_of(std::int64_t rows) {
    return std::max<std::int64_t>(1, round_up(rows, kRowsOfAnItem));
  }
  [[nodiscard]] std::int64_t size_of_rows(std::int64_t rows) const {
    return std::max<std::int64_t>(kFlagBytes, exchange_.row.count() * rows);
  }

  void move(const Moved& what, LatchId counts_down, LatchId waits_for) {
    push_part(copy_work(spec(), grid_.wg, what.read.count() * kRowsOfAChunk,
                        what.written.count() * kRowsOfAChunk),
              what.rows, kRowsOfAChunk, counts_down, waits_for);
  }
  // Calls `out(rows)` for what each of the waves does and lets it count down what that returns.
  template <class Out>
  void move_by_waves(const Moved& what, LatchId waits_for, const Out& out) {
    const std::int64_t items = items_of(what.rows);
    for (std::int64_t i = 0; i < items; ++i) {
      Moved part = what;
      part.rows = part_of(what.rows, items, i);
      const LatchId counts_down = out(part.rows);
      move(part, counts_down, waits_for);
    }
  }

  void keep(const Moved& what, LatchId waits_for) {
    move_by_waves(what, waits_for, [](std::int64_t) { return LatchId::none(); });
  }

  // Rows, and a flag after them; a flag alone where there are none. Inside a node each wave stores
  // its own; to another, the last one puts them all.
  void send(std::uint32_t from, const Addressee& to, const Moved& what, LatchId waits) {
    const auto items = static_cast<std::uint32_t>(items_of(what.rows));
    const std::uint32_t sender = gpu(from);
    if (!sends_.same_node(sender, to.gpu)) {
      const LatchId all =
          sends_.send_slice(graph_, sender, to, size_of_rows(what.rows), items, LatchId::none());
      return move_by_waves(what, waits, [&](std::int64_t) { return all; });
    }
    const LatchId stored = graph_.add_latch(items);
    graph_.add_send(FusedSends::flag(to.gpu, to.told, FusedSends::Ordered::no));
    move_by_waves(what, waits, [&](std::int64_t rows) {
      return sends_.send_slice(graph_, sender, to, size_of_rows(rows), 1, stored);
    });
  }

  void wait(LatchId counts_down, LatchId waits_for) { push({}, counts_down, waits_for); }

  // An item that does `part` of `whole` of the work: kinds of work are few.
  void push_part(const Work& work, std::int64_t part, std::int64_t whole, LatchId counts_down,
                 LatchId waits_for) {
    if (part == 0) return wait(counts_down, waits_for);
    push(work, counts_down, waits_for, part_of_item(part, whole));
  }

  const RowForwards& what_;
  std::uint32_t per_node_;
  std::uint32_t nodes_;
  std::vector<std::size_t> first_chunk_;  // [rank * nodes + at]
  std::vector<LatchId> at_node_;          // by chunk
  std::vector<LatchId> at_gpu_;           // by chunk and rank of its node
  std::vector<LatchId> home_;             // by rank: sums from all other nodes
};

}  // namespace

std::vector<KernelId> add_row_forwards(TaskGraph& graph, const RowForwards& what) {
  const std::size_t first_send = graph.sends.size();
  std::vector<KernelId> kernels = RowForwardsRun(graph, what).lower();
  graph.own_sends(first_send, what.exchange.op);
  return kernels;
}

RowForwardCounts count_row_forwards(const Reached& reached) {
  double chunks = 0;
  for (const std::int64_t rows : reached.nodes) {
    chunks += static_cast<double>(round_up(rows, kRowsOfAChunk)) + 1;
  }
  const double per_node = reached.per_node;
  const double items = kRowsOfAChunk / static_cast<double>(kRowsOfAnItem);
  return {.items = chunks * (2 * per_node + 2) * items,
          .sends = chunks * (per_node + 1) * (items + 2)};
}

}  // namespace weft
