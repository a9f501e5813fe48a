#include "sim/models/alone.h"

#include <algorithm>

namespace weft {

Groups groups_alone(const Groups& place, const Cluster& cluster) {
  const auto node_of = [&cluster](std::uint32_t gpu) { return cluster.node_of(GpuId(gpu)); };
  Groups first;
  const std::uint32_t node = node_of(place.groups.front().front());
  for (const std::vector<std::uint32_t>& group : place.groups) {
    const bool in_a_node = std::all_of(group.begin(), group.end(), [&](std::uint32_t gpu) {
      return node_of(gpu) == node_of(group.front());
    });
    if (!in_a_node) return place;
    if (node_of(group.front()) != node) continue;
    std::vector<std::uint32_t>& moved = first.groups.emplace_back(group);
    const std::uint32_t shift = node * static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
    for (std::uint32_t& gpu : moved) gpu -= shift;
  }
  return first;
}

bool lie_alike(const Groups& a, const Groups& b, const Cluster& cluster) {
  const auto nodes = [&cluster](const std::vector<std::uint32_t>& group) {
    std::vector<std::uint32_t> relative;
    relative.reserve(group.size());
    for (const std::uint32_t gpu : group) {
      relative.push_back(cluster.node_of(GpuId(gpu)) - cluster.node_of(GpuId(group.front())));
    }
    return relative;
  };
  return a.groups.size() == b.groups.size() &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(),
                    [&](const auto& x, const auto& y) { return nodes(x) == nodes(y); });
}

bool is_on_first_node(const Groups& place, const Cluster& cluster) {
  return std::all_of(place.groups.begin(), place.groups.end(), [&cluster](const auto& group) {
    return std::all_of(group.begin(), group.end(),
                       [&cluster](std::uint32_t gpu) { return cluster.node_of(GpuId(gpu)) == 0; });
  });
}

}  // namespace weft
