// Which nodes of a rank wait for which.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sim/traces/rank_trace.h"

namespace weft {

// By node of a rank, the nodes that wait for it.
class Followers {
 public:
  explicit Followers(const RankTrace& rank) : ends_(rank.nodes.size() + 1, 0) {
    for (const TraceNode& node : rank.nodes) {
      for (const std::uint32_t before : node.after) ++ends_[before + 1];
    }
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    nodes_.resize(ends_.back());
    std::vector<std::uint32_t> next(ends_.begin(), ends_.end() - 1);
    for (std::uint32_t i = 0; i < rank.nodes.size(); ++i) {
      for (const std::uint32_t before : rank.nodes[i].after) nodes_[next[before]++] = i;
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span(nodes_).subspan(ends_[node], ends_[node + 1] - ends_[node]);
  }

 private:
  std::vector<std::uint32_t> ends_;  // a node's begin where those of the one before it end
  std::vector<std::uint32_t> nodes_;
};

}  // namespace weft
