#include "sim/workloads/destination_order.h"

#include <algorithm>

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

// The ranks of the own node, then those of other nodes; or other nodes first, the own node last.
Ranks node_by_node(std::span<const std::uint32_t> node_of, std::uint32_t rank, bool remote_first) {
  std::vector<Ranks> nodes = by_node_from(node_of, rank);
  if (remote_first) {
    std::rotate(nodes.begin(), nodes.begin() + 1, nodes.end());
    std::rotate(nodes.back().begin(), nodes.back().begin() + 1, nodes.back().end());
  }
  Ranks all;
  for (const Ranks& node : nodes) all.insert(all.end(), node.begin(), node.end());
  return all;
}

}  // namespace

std::vector<Logical> slice_order(std::span<const std::uint32_t> node_of, DestinationOrder order,
                                 std::uint32_t rank, std::uint32_t slices) {
  const auto ranks = static_cast<std::uint32_t>(node_of.size());
  std::vector<Logical> result;
  result.reserve(std::size_t{ranks} * slices);
  const auto all_of = [&](std::uint32_t peer) {
    for (std::uint32_t s = 0; s < slices; ++s) result.push_back({peer, s});
  };
  switch (order) {
    case DestinationOrder::remote_first:
    case DestinationOrder::local_first: {
      const bool remote_first = order == DestinationOrder::remote_first;
      for (const std::uint32_t peer : node_by_node(node_of, rank, remote_first)) all_of(peer);
      break;
    }
    case DestinationOrder::staggered: {
      const std::uint64_t stride = spreading_stride(ranks);
      for (std::uint32_t s = 0; s < slices; ++s) {
        for (std::uint32_t step = 1; step < ranks; ++step) {
          result.push_back({static_cast<std::uint32_t>((rank + step * stride) % ranks), s});
        }
      }
      all_of(rank);
      break;
    }
    case DestinationOrder::given:
      for (std::uint32_t peer = 0; peer < ranks; ++peer) all_of(peer);
      break;
  }
  return result;
}

}  // namespace weft
