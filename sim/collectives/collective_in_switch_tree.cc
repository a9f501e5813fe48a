// All-reduces of several nodes whose switches add up and copy (NCCL's NVLSTree). The buffer has as
// many blocks as a node has GPUs, and GPU i of every node handles block i: it loads the node's sum
// of it and sends that up a tree of the GPUs i of all nodes, adding what comes from below; the
// root's sum goes back down, and every GPU on the way stores it in all GPUs of its node. There are
// two trees, each for half of the pieces: a node that is inside one is a leaf of the other.
//
//   up    ready, load; add what the children sent; send to the parent
//   down  receive from the parent; send to the children, and by the switch to all of the node
#include <algorithm>
#include <optional>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// NCCL's chunk for four or more nodes (NCCL_NVLSTREE_MAX_CHUNKSIZE).
constexpr std::int64_t kTreeChunk = 64 * 1024;
// But no more turns per channel than it takes to fill the pipeline: each is several events.
constexpr std::int64_t kMostTreeTurns = 64;
// Chunks that a rank may be ahead of its parent: the slots of a connection, as in NCCL.
constexpr std::int64_t kTreeSlots = 8;

Pieces cut_for_trees(const Cluster& cluster, const CollectiveCall& call, std::int64_t of_a_node) {
  const std::int64_t block = std::max<std::int64_t>(round_up(call.buffer.count(), of_a_node), 1);
  const std::int64_t channels = channels_of(cluster, call);
  const std::int64_t most = std::max(kTreeChunk, round_up(block, channels * kMostTreeTurns));
  return cut_for_peer(block, 1, channels, bytes(std::min(most, kMostOfMessage)));
}

class InSwitchTreeRun {
 public:
  explicit InSwitchTreeRun(CollectiveRun& run)
      : run_(run),
        local_(run.group().per_node),
        nodes_(run.group().nodes()),
        pieces_(cut_for_trees(run.cluster(), run.call(), local_)),
        channels_(std::min<std::int64_t>(channels_of(run.cluster(), run.call()), pieces_.pieces)),
        orders_(tree_orders(nodes_)) {
    for (const RankOrder& order : orders_) {
      std::vector<std::uint32_t> at(nodes_);
      for (std::uint32_t p = 0; p < nodes_; ++p) at[order[p]] = p;
      position_.push_back(std::move(at));
    }
  }

  std::vector<KernelId> lower() {
    SIM_ASSERT(is_possible(run_.cluster(), run_.call(), run_.group(), Algorithm::in_switch_tree));
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      const auto first = run_.group().gpus.begin() + node * local_;
      groups_.push_back(run_.graph().add_group({first, first + local_}));
    }
    ready_ = add_latches(local_);
    finish_ = add_latches(local_ * pieces_.pieces);
    add_piece_latches();
    nothing_ = {.work = run_.graph().add_work({})};
    const Bandwidth rate = run_.cluster().spec.gpu.collective.channel_rate;
    const Duration alone = run_.wire_time(pieces_.size, rate);
    sends_ = run_.work({.in = 0, .out = 1, .traffic = 0}, pieces_.size, alone,
                       CollectiveRun::Way::staged);
    stores_ = run_.work({.in = 1, .out = 1, .traffic = 0}, pieces_.size, alone,
                        CollectiveRun::Way::streamed);
    std::vector<KernelId> kernels;
    for (std::uint32_t rank = 0; rank < run_.ranks(); ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  using Tree = std::size_t;

  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const { return rank / local_; }
  [[nodiscard]] Tree tree_of(std::int64_t piece) const {
    return static_cast<Tree>(piece % channels_ % 2);  // a channel belongs to one tree
  }
  [[nodiscard]] bool is_root(std::uint32_t rank, Tree tree) const {
    return position_[tree][node_of(rank)] == 0;
  }
  // The same GPU of another node.
  [[nodiscard]] std::uint32_t peer(std::uint32_t rank, Tree tree, std::uint32_t position) const {
    return orders_[tree][position] * local_ + rank % local_;
  }
  [[nodiscard]] std::uint32_t parent(std::uint32_t rank, Tree tree) const {
    return peer(rank, tree, tree_parent(position_[tree][node_of(rank)], nodes_));
  }
  [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t rank, Tree tree) const {
    std::vector<std::uint32_t> below;
    for (std::uint32_t p = 1; p < nodes_; ++p) {
      if (tree_parent(p, nodes_) == position_[tree][node_of(rank)]) {
        below.push_back(peer(rank, tree, p));
      }
    }
    return below;
  }
  [[nodiscard]] std::int64_t hops_from_root(std::uint32_t rank, Tree tree) const {
    std::int64_t hops = 0;
    for (std::uint32_t p = position_[tree][node_of(rank)]; p > 0; p = tree_parent(p, nodes_)) {
      ++hops;
    }
    return hops;
  }

  // One per rank, numbered consecutively; returns the first.
  LatchId add_latches(std::int64_t target) {
    const LatchId first = run_.graph().latches.next_id();
    for (std::uint32_t rank = 0; rank < run_.ranks(); ++rank) {
      run_.graph().add_latch(static_cast<std::uint32_t>(target));
    }
    return first;
  }

  // For each piece of a rank: one for its node's sum and its children's; one for the parent's
  // total.
  void add_piece_latches() {
    for (std::uint32_t rank = 0; rank < run_.ranks(); ++rank) {
      for (std::int64_t piece = 0; piece < pieces_.pieces; ++piece) {
        const Tree tree = tree_of(piece);
        const std::size_t below = children(rank, tree).size();
        sums_.push_back(run_.graph().add_latch(1 + static_cast<std::uint32_t>(below)));
        totals_.push_back(is_root(rank, tree) ? sums_.back() : run_.graph().add_latch(1));
      }
    }
  }
  [[nodiscard]] LatchId of_piece(const std::vector<LatchId>& latches, std::uint32_t rank,
                                 std::int64_t piece) const {
    return latches[static_cast<std::size_t>(rank * pieces_.pieces + piece)];
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = run_.kernel(rank, static_cast<std::uint32_t>(channels_));
    kernel.finish = LatchId(finish_.value + rank);
    kernel.handover = kernel.handover + hop();
    say_ready(rank);
    // The same number of items for every channel: the list is dealt out to them in turn.
    std::vector<std::vector<Item>> of_channel;
    std::size_t most = 0;
    for (std::int64_t c = 0; c < channels_; ++c) {
      of_channel.push_back(program(rank, c));
      most = std::max(most, of_channel.back().size());
    }
    for (std::size_t i = 0; i < most; ++i) {
      for (const std::vector<Item>& items : of_channel) {
        run_.graph().items.add(i < items.size() ? items[i] : idle());
      }
    }
    return run_.add(kernel, rank);
  }

  // The library's time for a hop between nodes, besides NIC and links.
  [[nodiscard]] Duration hop() const {
    const std::optional<CostTable>& costs = run_.cluster().spec.gpu.collective.costs;
    if (!costs) return {};
    return costs->at(static_cast<std::size_t>(Algorithm::in_switch_tree))
        .at(static_cast<std::size_t>(Protocol::simple))
        .step;
  }

  // By the first channel.
  void say_ready(std::uint32_t rank) {
    const LatchId first(ready_.value + node_of(rank) * local_);
    const LatchId out = switch_send(rank, kFlagBytes, first, InSwitch::multicasts);
    run_.graph().items.add(CollectiveRun::item(nothing_, 1, out, LatchId::none()));
    for (std::int64_t c = 1; c < channels_; ++c) run_.graph().items.add(idle());
  }

  // A piece is loaded while the one before is sent. The further from the root, the further a rank
  // is ahead on the way up.
  std::vector<Item> program(std::uint32_t rank, std::int64_t channel) {
    std::vector<Item> items;
    const std::int64_t ahead = 1 + kTreeSlots * hops_from_root(rank, tree_of(channel));
    const std::int64_t turns = round_up(pieces_.pieces, channels_);
    for (std::int64_t turn = 0; turn < turns + ahead; ++turn) {
      const std::int64_t up = turn * channels_ + channel;
      if (turn < turns && up < pieces_.pieces) load(rank, up, items);
      const std::int64_t sent = up - channels_;
      if (sent >= 0 && sent < pieces_.pieces) send_up(rank, sent, items);
      const std::int64_t down = up - ahead * channels_;
      if (down >= 0 && down < pieces_.pieces) pass_down(rank, down, items);
    }
    return items;
  }

  [[nodiscard]] std::int64_t size_of(std::int64_t piece) const {
    const std::int64_t block = round_up(run_.call().buffer.count(), local_);
    return std::max<std::int64_t>(std::min(pieces_.size, block - piece * pieces_.size), 1);
  }

  void load(std::uint32_t rank, std::int64_t piece, std::vector<Item>& items) {
    const LatchId out =
        switch_send(rank, size_of(piece), of_piece(sums_, rank, piece), InSwitch::reduces);
    items.push_back(CollectiveRun::item(nothing_, 1, out, LatchId(ready_.value + rank)));
  }

  void send_up(std::uint32_t rank, std::int64_t piece, std::vector<Item>& items) {
    const Tree tree = tree_of(piece);
    if (is_root(rank, tree)) return;
    const std::uint32_t to = parent(rank, tree);
    const std::int64_t size = size_of(piece);
    const LatchId out = run_.send(rank, to, size, of_piece(sums_, to, piece), true);
    items.push_back(CollectiveRun::item(sends_, size, out, of_piece(sums_, rank, piece)));
  }

  void pass_down(std::uint32_t rank, std::int64_t piece, std::vector<Item>& items) {
    const Tree tree = tree_of(piece);
    const std::int64_t size = size_of(piece);
    const LatchId total = of_piece(totals_, rank, piece);
    for (const std::uint32_t to : children(rank, tree)) {
      const LatchId out = run_.send(rank, to, size, of_piece(totals_, to, piece), true);
      items.push_back(CollectiveRun::item(sends_, size, out, total));
    }
    const LatchId all(finish_.value + node_of(rank) * local_);
    const LatchId out = switch_send(rank, size, all, InSwitch::multicasts);
    items.push_back(CollectiveRun::item(stores_, size, out, total));
  }

  LatchId switch_send(std::uint32_t rank, std::int64_t size, LatchId arrives, InSwitch op) {
    const LatchId out = run_.graph().add_latch(1);
    run_.graph().add_send(
        {.to = run_.group().gpus[rank],
         .size = static_cast<std::uint32_t>(size),
         .arrives = arrives,
         .op = static_cast<std::uint16_t>(run_.call().operator_id.value),
         .group = groups_[node_of(rank)],
         .receive_traffic = op == InSwitch::reduces ? std::uint8_t{0} : std::uint8_t{1},
         .in_switch = op});
    return out;
  }

  [[nodiscard]] Item idle() const {
    return CollectiveRun::item(nothing_, 1, LatchId::none(), LatchId::none());
  }

  CollectiveRun& run_;
  std::uint32_t local_;  // ranks of a node
  std::uint32_t nodes_;
  Pieces pieces_;
  std::int64_t channels_;
  std::vector<RankOrder> orders_;                     // of the nodes, by tree
  std::vector<std::vector<std::uint32_t>> position_;  // of a node in them
  std::vector<std::uint16_t> groups_;                 // by node
  LatchId ready_ = LatchId::none();                   // rank 0's, like the next one

  LatchId finish_ = LatchId::none();
  std::vector<LatchId> sums_;    // by rank and piece: what the children send, and the node's sum
  std::vector<LatchId> totals_;  // the same: what the parent sends; of a root its sum
  CollectiveRun::WorkKind nothing_;
  CollectiveRun::WorkKind sends_;
  CollectiveRun::WorkKind stores_;
};

}  // namespace

std::vector<KernelId> run_in_switch_tree(CollectiveRun& run) {
  return InSwitchTreeRun(run).lower();
}

std::int64_t in_switch_tree_turns(const Cluster& cluster, const CollectiveCall& call,
                                  const RankGroup& group) {
  return round_up(cut_for_trees(cluster, call, group.per_node).pieces, channels_of(cluster, call));
}

CollectiveCounts count_in_switch_tree(const Cluster& cluster, const CollectiveCall& call,
                                      const RankGroup& group) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const Pieces pieces = cut_for_trees(cluster, call, group.per_node);
  const double ranks = real(group.size());
  const double local = real(group.per_node);
  // Loaded by all of a node, sent up and down, stored for all.
  const double messages = local + 1 + 2;
  return {.items = ranks * (real(pieces.pieces) * 6 + 2 * real(channels_of(cluster, call))),
          .sends = ranks * real(pieces.pieces) * messages + ranks,
          .bytes = ranks * real(pieces.pieces * pieces.size) * messages + ranks * real(kFlagBytes)};
}

}  // namespace weft
