// Rings that load all links evenly, and the two trees.
#include "sim/plans/rank_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weft::rank_orders_test {
namespace {

using Link = std::pair<std::uint32_t, std::uint32_t>;

std::map<Link, int> uses_of_links(const std::vector<RankOrder>& all) {
  std::map<Link, int> uses;
  for (const RankOrder& ring : all) {
    for (std::size_t i = 0; i < ring.size(); ++i) ++uses[{ring[i], ring[(i + 1) % ring.size()]}];
  }
  return uses;
}

TEST(RankOrders, every_ring_visits_every_rank_once) {
  for (std::uint32_t n = 1; n < 40; ++n) {
    for (RankOrder ring : rings(n, Wiring::all_pairs)) {
      std::sort(ring.begin(), ring.end());
      EXPECT_EQ(ring, identity_order(n));
    }
  }
}

TEST(RankOrders, rings_use_every_link_between_pairs_equally_often) {
  for (const std::uint32_t n : {2U, 3U, 4U, 5U, 7U, 8U, 11U, 17U}) {
    const std::map<Link, int> uses = uses_of_links(rings(n, Wiring::all_pairs));
    EXPECT_EQ(uses.size(), std::size_t{n} * (n - 1));
    for (const auto& [link, times] : uses) EXPECT_EQ(times, n == 4 ? 2 : 1) << n;
  }
}

TEST(RankOrders, rings_of_other_even_numbers_use_every_link_and_those_across_twice) {
  for (const std::uint32_t n : {6U, 10U, 12U}) {
    const std::map<Link, int> uses = uses_of_links(rings(n, Wiring::all_pairs));
    EXPECT_EQ(uses.size(), std::size_t{n} * (n - 1)) << n;
    for (const auto& [link, times] : uses) {
      EXPECT_EQ(times, (link.first + n / 2) % n == link.second ? 2 : 1) << n;
    }
  }
}

TEST(RankOrders, rings_of_other_odd_numbers_use_the_links_of_coprime_distances_once) {
  const std::map<Link, int> uses = uses_of_links(rings(9, Wiring::all_pairs));
  EXPECT_EQ(uses.size(), 9U * 6U);  // distances 1, 2, 4, 5, 7, 8
  for (const auto& [link, times] : uses) EXPECT_EQ(times, 1);
}

// Rings that all walked 0-1-...-7 would leave 49 of 56 links idle.
TEST(RankOrders, ways_through_a_node_use_every_link_of_an_even_number_of_pairs_once) {
  for (const std::uint32_t n : {2U, 4U, 6U, 8U, 16U}) {
    std::map<Link, int> uses;
    for (const RankOrder& way : ways_through(n, Wiring::all_pairs)) {
      for (std::size_t i = 0; i + 1 < way.size(); ++i) ++uses[{way[i], way[i + 1]}];
    }
    EXPECT_EQ(uses.size(), std::size_t{n} * (n - 1)) << n;
    for (const auto& [link, times] : uses) EXPECT_EQ(times, 1) << n;
  }
}

TEST(RankOrders, every_rank_begins_one_way_and_ends_one) {
  for (const Wiring wiring : {Wiring::all_pairs, Wiring::shared}) {
    for (std::uint32_t n = 1; n < 40; ++n) {
      RankOrder firsts;
      RankOrder lasts;
      for (RankOrder way : ways_through(n, wiring)) {
        firsts.push_back(way.front());
        lasts.push_back(way.back());
        std::sort(way.begin(), way.end());
        EXPECT_EQ(way, identity_order(n));
      }
      std::sort(firsts.begin(), firsts.end());
      std::sort(lasts.begin(), lasts.end());
      EXPECT_EQ(firsts, identity_order(n));
      EXPECT_EQ(lasts, identity_order(n));
    }
  }
}

TEST(RankOrders, on_shared_wires_there_is_one_ring_in_the_order_of_the_ranks) {
  EXPECT_EQ(rings(8, Wiring::shared), (std::vector<RankOrder>{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

std::vector<int> children_in(const RankOrder& order) {
  const auto n = static_cast<std::uint32_t>(order.size());
  std::vector<int> children(n);
  for (std::uint32_t i = 1; i < n; ++i) ++children[order[tree_parent(i, n)]];
  return children;
}

TEST(RankOrders, nobody_has_more_than_two_children) {
  for (std::uint32_t n = 1; n < 200; ++n) {
    const std::vector<int> children = children_in(identity_order(n));
    EXPECT_LE(*std::max_element(children.begin(), children.end()), 2) << n;
  }
}

TEST(RankOrders, a_rank_with_children_in_one_tree_is_a_leaf_of_the_other) {
  for (std::uint32_t n = 2; n < 100; ++n) {
    const std::vector<RankOrder> orders = tree_orders(n);
    const std::vector<int> first = children_in(orders[0]);
    const std::vector<int> second = children_in(orders[1]);
    for (std::uint32_t r = 0; r < n; ++r) {
      if (r == 0 && n % 2 == 1) {
        EXPECT_EQ(first[r] + second[r], 2) << n;
      } else {
        EXPECT_EQ((first[r] == 0) + (second[r] == 0), 1) << n << " rank " << r;
      }
    }
  }
}

TEST(RankOrders, children_come_before_their_parents_on_the_way_up) {
  for (std::uint32_t n = 1; n < 100; ++n) {
    const std::vector<std::uint32_t> upwards = tree_upwards(n);
    ASSERT_EQ(upwards.size(), n - 1);
    for (std::size_t i = 0; i < upwards.size(); ++i) {
      const std::uint32_t parent = tree_parent(upwards[i], n);
      EXPECT_EQ(
          std::find(upwards.begin(), upwards.begin() + static_cast<std::ptrdiff_t>(i), parent),
          upwards.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

TEST(RankOrders, a_tree_of_chains_joins_the_heads_of_the_nodes) {
  const RankTree tree = tree_of_chains({1, 0}, {2, 0, 1});  // two nodes of three
  EXPECT_EQ(tree.parent, (std::vector<std::uint32_t>{2, 0, 5, 5, 3, 5}));
  EXPECT_EQ(tree.upwards, (std::vector<std::uint32_t>{1, 4, 0, 3, 2}));
}

}  // namespace
}  // namespace weft::rank_orders_test
