#include "sim/collectives/rank_group.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/ties.h"

namespace weft {
namespace {

// Ranks per node where all nodes have the same number, numbered consecutively; else 1.
std::uint32_t ranks_per_node(const Cluster& cluster, const std::vector<std::uint32_t>& gpus) {
  const auto node = [&](std::size_t rank) { return cluster.node_of(GpuId(gpus[rank])); };
  std::size_t l = 1;
  while (l < gpus.size() && node(l) == node(0)) ++l;
  if (gpus.size() % l != 0) return 1;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    if (node(rank) != node(rank / l * l)) return 1;
  }
  return static_cast<std::uint32_t>(l);
}

std::uint32_t first_node(const Cluster& cluster, const std::vector<std::uint32_t>& gpus) {
  return cluster.node_of(GpuId(gpus.front()));
}

RankGroup lying(const Cluster& cluster, const std::vector<std::uint32_t>& gpus) {
  RankGroup group{.gpus = gpus};
  group.per_node = ranks_per_node(cluster, gpus);
  const std::uint32_t first = first_node(cluster, gpus);
  group.one_node = std::all_of(gpus.begin(), gpus.end(), [&](std::uint32_t gpu) {
    return cluster.node_of(GpuId(gpu)) == first;
  });
  return group;
}

// Sets on_a_nic: the most GPUs of these groups that one NIC sends for.
void count_on_nics(const Cluster& cluster, std::vector<RankGroup>& groups) {
  const ClusterSpec& spec = cluster.spec;
  if (!spec.nic || groups.front().one_node) return;
  const auto per_node = static_cast<std::uint32_t>(spec.gpus_per_node);
  const auto nics = static_cast<std::uint32_t>(std::min(spec.nic->per_node, spec.gpus_per_node));
  std::vector<std::uint32_t> on(std::size_t{nics} * static_cast<std::size_t>(spec.nodes));
  std::uint32_t most = 1;
  for (const RankGroup& group : groups) {
    for (const std::uint32_t gpu : group.gpus) {
      const std::uint32_t nic = gpu / per_node * nics + gpu % per_node * nics / per_node;
      most = std::max(most, ++on[nic]);
    }
  }
  for (RankGroup& group : groups) group.on_a_nic = most;
}

std::vector<RankGroup> moved_to_front(const Cluster& cluster, std::vector<RankGroup> groups) {
  std::uint32_t lowest = UINT32_MAX;
  for (const RankGroup& group : groups) {
    lowest = std::min(lowest, *std::min_element(group.gpus.begin(), group.gpus.end()));
  }
  const std::uint32_t node = cluster.node_of(GpuId(lowest));
  NetworkSpec sound = cluster.network;
  sound.degraded.clear();
  if (!groups.front().one_node && !Transport::can_move(sound, node)) return groups;
  const std::uint32_t shift = node * static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
  for (RankGroup& group : groups) {
    for (std::uint32_t& gpu : group.gpus) gpu -= shift;
  }
  return groups;
}

// By node: the first of the nodes whose groups may meet its own on a link between nodes.
std::vector<std::uint32_t> nodes_that_meet(const Cluster& cluster,
                                           const std::vector<RankGroup>& groups) {
  Ties ties(static_cast<std::size_t>(cluster.spec.nodes));
  const auto& fabric = cluster.spec.scale_out;
  const bool share = fabric && !fabric->topology->keeps_pairs_apart();
  for (const RankGroup& group : groups) {
    if (group.one_node) continue;
    const std::uint32_t first = share ? 0 : first_node(cluster, group.gpus);
    for (const std::uint32_t gpu : group.gpus) ties.tie(first, cluster.node_of(GpuId(gpu)));
  }
  std::vector<std::uint32_t> first_of;
  for (std::uint32_t node = 0; std::cmp_less(node, cluster.spec.nodes); ++node) {
    first_of.push_back(ties.find(node));
  }
  return first_of;
}

}  // namespace

GroupsAtOnce::GroupsAtOnce(const Cluster& cluster_of_call,
                           const std::vector<std::vector<std::uint32_t>>& groups,
                           std::uint32_t turns) {
  const Cluster& cluster = turns > 1 ? *cluster_of_call.whole : cluster_of_call;
  places_.resize(cluster.gpus());
  std::vector<RankGroup> all;
  all.reserve(groups.size());
  for (const std::vector<std::uint32_t>& gpus : groups) {
    all.push_back(lying(cluster, turns > 1 ? stood_for(cluster_of_call, gpus, turns) : gpus));
  }
  const std::vector<std::uint32_t> first_of = nodes_that_meet(cluster, all);
  std::map<std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (RankGroup& group : all) {
    const std::uint32_t node = first_node(cluster, group.gpus);
    const std::uint32_t where = group.one_node ? node : first_of[node];
    const auto [set, added] =
        known.try_emplace({group.one_node, group.size(), group.per_node, where},
                          static_cast<std::uint32_t>(sets_.size()));
    if (added) sets_.emplace_back();
    std::vector<RankGroup>& alike = sets_[set->second].groups;
    places_[group.gpus.front()] = {.set = set->second,
                                   .index = static_cast<std::uint32_t>(alike.size())};
    alike.push_back(std::move(group));
  }
  for (Set& set : sets_) {
    count_on_nics(cluster, set.groups);
    set.moved = moved_to_front(cluster, set.groups);
  }
}

const RankGroup& GroupsAtOnce::group(const std::vector<std::uint32_t>& gpus) const {
  const Place& place = places_[gpus.front()];
  SIM_ASSERT(place.set < sets_.size());
  const RankGroup& group = sets_[place.set].groups[place.index];
  SIM_ASSERT(group.gpus == gpus);
  return group;
}

const std::vector<RankGroup>& GroupsAtOnce::alike(const RankGroup& group) const {
  return sets_[places_[group.gpus.front()].set].moved;
}

std::vector<std::uint32_t> stood_for(const Cluster& cluster,
                                     const std::vector<std::uint32_t>& ranks, std::uint32_t turns) {
  std::vector<std::uint32_t> gpus;
  gpus.reserve(ranks.size() * turns);
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    for (const std::uint32_t gpu : ranks) {
      gpus.push_back(cluster.representatives.stood_for(gpu, turn));
    }
  }
  return gpus;
}

RankGroup group_of(const Cluster& cluster, const CollectiveCall& call) {
  if (call.at_once != nullptr) return call.at_once->group(call.ranks);
  std::vector<std::uint32_t> gpus = call.ranks;
  if (gpus.empty()) {
    gpus.resize(cluster.gpus());
    std::iota(gpus.begin(), gpus.end(), 0U);
  }
  std::vector<RankGroup> alone{lying(cluster, gpus)};
  count_on_nics(cluster, alone);
  return std::move(alone.front());
}

std::vector<RankGroup> groups_at_once(const Cluster& cluster, const CollectiveCall& call,
                                      const RankGroup& group) {
  if (call.at_once != nullptr) return call.at_once->alike(group);
  return moved_to_front(cluster, {group});
}

}  // namespace weft
