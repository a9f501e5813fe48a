// The ranks of a collective: how they lie in nodes, and which other groups are at work beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/collectives/collective.h"

namespace weft {

// The ranks of a call and how they lie in nodes.
struct RankGroup {
  std::vector<std::uint32_t> gpus;  // by rank
  // Ranks of each node, numbered in a row; 1 where the nodes are not filled alike.
  std::uint32_t per_node = 1;
  bool one_node = false;
  // GPUs that send by one NIC, at most, of it and of those that run at one time with it.
  std::uint32_t on_a_nic = 1;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(gpus.size()); }
  [[nodiscard]] std::uint32_t nodes() const { return size() / per_node; }
};

// Groups that make one call at one time: all of a split of the GPUs.
class GroupsAtOnce {
 public:
  GroupsAtOnce(const Cluster& cluster, const std::vector<std::vector<std::uint32_t>>& groups);

  [[nodiscard]] const RankGroup& group(const std::vector<std::uint32_t>& gpus) const;

  // Those that lie in nodes as this one does and may share links with it, itself among them; from
  // the first node on, where that changes nothing.
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

RankGroup group_of(const Cluster& cluster, const CollectiveCall& call);

// GroupsAtOnce::alike(), or the group alone.
std::vector<RankGroup> groups_at_once(const Cluster& cluster, const CollectiveCall& call,
                                      const RankGroup& group);

}  // namespace weft
