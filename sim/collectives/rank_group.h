// The ranks of a collective: how they lie in nodes, and which other groups run concurrently.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/collectives/collective.h"

namespace weft {

// The ranks of a call and how they lie in nodes.
struct RankGroup {
  std::vector<std::uint32_t> gpus;  // by rank
  // Ranks per node, numbered consecutively; 1 where nodes have different numbers of them.
  std::uint32_t per_node = 1;
  bool one_node = false;
  // The most GPUs, of this group and those concurrent with it, that send by one NIC.
  std::uint32_t on_a_nic = 1;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(gpus.size()); }
  [[nodiscard]] std::uint32_t nodes() const { return size() / per_node; }
};

// Groups that make the same call at the same time: all groups of a split of the GPUs.
class GroupsAtOnce {
 public:
  // `turns`: see CollectiveCall; above 1 the groups are those of the whole cluster.
  GroupsAtOnce(const Cluster& cluster, const std::vector<std::vector<std::uint32_t>>& groups,
               std::uint32_t turns = 1);

  [[nodiscard]] const RankGroup& group(const std::vector<std::uint32_t>& gpus) const;

  // The groups that lie in nodes as this one does and may share links with it, itself included;
  // moved to begin at the first node, where that changes nothing.
  [[nodiscard]] const std::vector<RankGroup>& alike(const RankGroup& group) const;

 private:
  struct Place {
    std::uint32_t set = UINT32_MAX;
    std::uint32_t index = 0;
  };
  struct Set {
    std::vector<RankGroup> groups;  // where they are
    std::vector<RankGroup> moved;   // to the first node
  };
  std::vector<Place> places_;  // by first GPU
  std::vector<Set> sets_;
};

// The GPUs, in rank order and by their numbers in the whole cluster, of a group of which these are
// the first and stand for all.
std::vector<std::uint32_t> stood_for(const Cluster& cluster,
                                     const std::vector<std::uint32_t>& ranks, std::uint32_t turns);

RankGroup group_of(const Cluster& cluster, const CollectiveCall& call);

// GroupsAtOnce::alike(), or the group alone.
std::vector<RankGroup> groups_at_once(const Cluster& cluster, const CollectiveCall& call,
                                      const RankGroup& group);

}  // namespace weft
