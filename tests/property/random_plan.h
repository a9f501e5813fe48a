// A random collective of a random number of ranks, by any of its algorithms.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/rng.h"
#include "sim/plans/collective_plan.h"

namespace weft {

class RandomPlan {
 public:
  explicit RandomPlan(std::uint64_t seed) : rng_(seed, "plan") {
    ranks_ = below(12) == 0 ? 16 * (1 + below(4)) : 1 + below(17);
    make();
  }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::string text() const { return text_ + "\n"; }

 private:
  std::uint32_t below(std::uint32_t end) {
    return static_cast<std::uint32_t>(rng_.between(0, std::int64_t{end} - 1));
  }

  RankOrder any_order() {
    RankOrder order = identity_order(ranks_);
    for (std::uint32_t i = ranks_; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    return order;
  }

  Scheme any_scheme() {
    const Scheme all[] = {Scheme::ring, Scheme::direct, Scheme::halving};
    const char* const names[] = {"ring", "direct", "halving"};
    const std::uint32_t which = below(3);
    text_ += fmt::format(" {}", names[which]);
    return all[which];
  }

  std::uint32_t any_divisor() {
    std::vector<std::uint32_t> divisors;
    for (std::uint32_t d = 1; d <= ranks_; ++d) {
      if (ranks_ % d == 0) divisors.push_back(d);
    }
    return divisors[below(static_cast<std::uint32_t>(divisors.size()))];
  }

  // Of chains of any length, in any order of their ranks and of the nodes.
  RankTree any_tree() {
    const std::uint32_t per_node = any_divisor();
    text_ += fmt::format(" all_reduce_tree, {} a node", per_node);
    const std::uint32_t nodes = ranks_ / per_node;
    RankOrder way = identity_order(per_node);
    for (std::uint32_t i = per_node; i > 1; --i) std::swap(way[i - 1], way[below(i)]);
    RankOrder order = identity_order(nodes);
    for (std::uint32_t i = nodes; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    return tree_of_chains(order, way);
  }

  void make() {
    text_ = fmt::format("{} ranks:", ranks_);
    switch (below(9)) {
      case 0:
        return scattered_or_gathered();
      case 1:
        return scattered_or_gathered();
      case 2: {
        const Scheme scheme = any_scheme();
        text_ += " all_reduce";
        plan_ = all_reduce(scheme, any_order());
        return;
      }
      case 3:
        text_ += " all_reduce_one_shot";
        plan_ = all_reduce_one_shot(ranks_);
        return;
      case 4:
        plan_ = all_reduce_tree(any_tree());
        return;
      case 5: {
        const std::uint32_t per_node = any_divisor();
        text_ += fmt::format(" all_reduce_hierarchical, {} a node,", per_node);
        const Scheme inside = any_scheme();
        plan_ = all_reduce_hierarchical({.ranks = ranks_,
                                         .ranks_per_node = per_node,
                                         .inside = inside,
                                         .between = any_scheme(),
                                         .first_peer = below(8)});
        return;
      }
      case 6:
        text_ += " all_to_all";
        plan_ = all_to_all(ranks_);
        return;
      case 7:
        return uneven();
      default:
        return from_a_root();
    }
  }

  void scattered_or_gathered() {
    const Scheme scheme = any_scheme();
    const RankOrder order = scheme == Scheme::halving ? identity_order(ranks_) : any_order();
    const bool gather = below(2) == 0;
    text_ += gather ? " all_gather" : " reduce_scatter";
    plan_ = gather ? all_gather(scheme, order) : reduce_scatter(scheme, order);
  }

  void uneven() {
    text_ += " all_to_all_uneven";
    std::vector<std::int64_t> pair_bytes;
    for (std::uint32_t i = 0; i < ranks_ * ranks_; ++i) {
      pair_bytes.push_back(below(3) == 0 ? 0 : 1 + below(1000));
    }
    plan_ = all_to_all_uneven(ranks_, std::move(pair_bytes));
  }

  void from_a_root() {
    const std::uint32_t root = below(ranks_);
    const std::uint32_t kind = below(4);
    text_ += fmt::format(" from root {}, kind {}", root, kind);
    if (kind == 0) plan_ = broadcast_ring(any_order(), root);
    if (kind == 1) plan_ = broadcast_tree(any_order(), root);
    if (kind == 2) plan_ = broadcast_direct(ranks_, root);
    if (kind == 3) plan_ = point_to_point({.ranks = ranks_, .from = root, .to = below(ranks_)});
  }

  Rng rng_;
  std::uint32_t ranks_ = 1;
  Plan plan_;
  std::string text_;
};

}  // namespace weft
