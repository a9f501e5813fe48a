#include "sim/workloads/destination_order.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/plans/rank_orders.h"

namespace weft {
namespace {

using Ranks = std::vector<std::uint32_t>;

// Ranks by node, the node of `rank` first. The ranks of each node start at the position that `rank`
// has in its own node: there with itself, in other nodes with its counterpart.
std::vector<Ranks> by_node_from(std::span<const std::uint32_t> node_of, std::uint32_t rank) {
  std::vector<std::uint32_t> nodes(node_of.begin(), node_of.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto number_of = [&](std::uint32_t peer) {
    return std::lower_bound(nodes.begin(), nodes.end(), node_of[peer]) - nodes.begin();
  };
  std::vector<Ranks> all(nodes.size());
  for (std::uint32_t peer = 0; peer < node_of.size(); ++peer) {
    all[static_cast<std::size_t>(number_of(peer))].push_back(peer);
  }
  std::rotate(all.begin(), all.begin() + number_of(rank), all.end());
  const auto place = std::find(all[0].begin(), all[0].end(), rank) - all[0].begin();
  for (Ranks& node : all) {
    std::rotate(node.begin(), node.begin() + place % std::ssize(node), node.end());
  }
  return all;
}

// Slices in the order in which they are taken.
class Order {
 public:
  Order(std::uint32_t ranks, std::uint32_t slices) : slices_(slices) {
    result_.reserve(std::size_t{ranks} * slices);
  }

  void one_by_one(std::span<const std::uint32_t> ranks) {
    for (const std::uint32_t rank : ranks) {
      for (std::uint32_t s = 0; s < slices_; ++s) result_.push_back({rank, s});
    }
  }
  void in_turn(std::span<const std::uint32_t> ranks) {
    for (std::uint32_t s = 0; s < slices_; ++s) {
      for (const std::uint32_t rank : ranks) result_.push_back({rank, s});
    }
  }
  // A turn begins one rank later after each `round` of slices, which is whole turns.
  void rotating(std::span<const std::uint32_t> ranks, std::size_t round) {
    for (std::size_t at = 0; at < ranks.size() * slices_; ++at) {
      result_.push_back(
          {ranks[(at + at / round) % ranks.size()], static_cast<std::uint32_t>(at / ranks.size())});
    }
  }

  std::vector<Logical> take() { return std::move(result_); }

 private:
  std::uint32_t slices_;
  std::vector<Logical> result_;
};

// Itself and its own node's peers, those of other nodes after that; or others first, itself last.
// Only sending to all peers at once uses all links of a node where each pair has its own.
void add_by_node(Order& order, const Destinations& to, std::uint32_t rank, bool remote_first) {
  const std::vector<Ranks> nodes = by_node_from(to.node_of, rank);
  const auto own_node = std::span(nodes[0]);
  const auto itself = own_node.first(1);
  const auto add_own_node = [&] {
    const auto peers = own_node.subspan(1);
    to.own_links ? order.in_turn(peers) : order.one_by_one(peers);
  };
  const auto add_other_nodes = [&] {
    for (const Ranks& node : std::span(nodes).subspan(1)) order.one_by_one(node);
  };
  if (remote_first) {
    add_other_nodes();
    add_own_node();
    order.one_by_one(itself);
  } else {
    order.one_by_one(itself);
    add_own_node();
    add_other_nodes();
  }
}

Ranks spread(std::uint32_t ranks, std::uint32_t rank) {
  const std::uint64_t stride = spreading_stride(ranks);
  Ranks peers;
  for (std::uint32_t step = 1; step < ranks; ++step) {
    peers.push_back(static_cast<std::uint32_t>((rank + step * stride) % ranks));
  }
  return peers;
}

// Itself at the end.
Ranks whole_turn(std::uint32_t ranks, std::uint32_t rank) {
  Ranks turn = spread(ranks, rank);
  turn.push_back(rank);
  return turn;
}

}  // namespace

Destinations destinations(const Cluster& cluster, std::span<const std::uint32_t> gpus) {
  Destinations to;
  for (const std::uint32_t gpu : gpus) to.node_of.push_back(cluster.node_of(GpuId(gpu)));
  const std::optional<FabricSpec>& fabric = cluster.spec.scale_up;
  to.own_links = fabric && fabric->topology->has_link_of_each_pair();
  return to;
}

std::vector<Logical> slice_order(const Destinations& to, DestinationOrder order, std::uint32_t rank,
                                 std::uint32_t slices, std::uint32_t at_once) {
  const auto ranks = static_cast<std::uint32_t>(to.node_of.size());
  Order result(ranks, slices);
  switch (order) {
    case DestinationOrder::remote_first:
      add_by_node(result, to, rank, true);
      break;
    case DestinationOrder::local_first:
      add_by_node(result, to, rank, false);
      break;
    case DestinationOrder::staggered:
      result.in_turn(spread(ranks, rank));
      result.one_by_one(std::span(&rank, 1));
      break;
    case DestinationOrder::in_turn:
      result.in_turn(whole_turn(ranks, rank));
      break;
    case DestinationOrder::rotating:
      result.rotating(whole_turn(ranks, rank), std::max(1U, at_once / ranks) * ranks);
      break;
    case DestinationOrder::given: {
      Ranks all(ranks);
      std::iota(all.begin(), all.end(), 0U);
      result.one_by_one(all);
      break;
    }
  }
  return result.take();
}

}  // namespace weft
