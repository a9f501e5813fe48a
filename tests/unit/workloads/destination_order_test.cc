// Whose slices a GPU's persistent WGs take first.
#include "sim/workloads/destination_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace weft::destination_order_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

const Ranks kOneNode{0, 0, 0, 0};
const Ranks kFourNodes{0, 1, 2, 3};
const Ranks kThreeNodesOfTwo{0, 0, 1, 1, 2, 2};

Ranks peers(const Ranks& node_of, DestinationOrder order, std::uint32_t rank) {
  Ranks all;
  for (const Logical& slice : slice_order({node_of}, order, rank, 1)) all.push_back(slice.peer);
  return all;
}

TEST(DestinationOrder, remote_first_begins_with_the_next_rank_where_all_are_alike) {
  for (const Ranks& node_of : {kOneNode, kFourNodes}) {
    EXPECT_EQ(peers(node_of, DestinationOrder::remote_first, 1), (Ranks{2, 3, 0, 1}));
  }
}

TEST(DestinationOrder, local_first_begins_with_itself) {
  for (const Ranks& node_of : {kOneNode, kFourNodes}) {
    EXPECT_EQ(peers(node_of, DestinationOrder::local_first, 1), (Ranks{1, 2, 3, 0}));
  }
}

TEST(DestinationOrder, remote_first_sends_to_other_nodes_before_its_own) {
  // Rank 3 is the second of node 1: the second of node 2, then its first, the same of node 0.
  EXPECT_EQ(peers(kThreeNodesOfTwo, DestinationOrder::remote_first, 3), (Ranks{5, 4, 1, 0, 2, 3}));
}

TEST(DestinationOrder, local_first_sends_to_its_own_node_before_others) {
  EXPECT_EQ(peers(kThreeNodesOfTwo, DestinationOrder::local_first, 3), (Ranks{3, 2, 5, 4, 1, 0}));
}

TEST(DestinationOrder, in_turn_makes_a_slice_for_each_itself_last) {
  Ranks all;
  std::vector<std::uint32_t> slices;
  for (const Logical& slice : slice_order({kOneNode}, DestinationOrder::in_turn, 1, 2)) {
    all.push_back(slice.peer);
    slices.push_back(slice.index);
  }
  EXPECT_EQ(slices, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(all[3], 1U);
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + 4, all.begin() + 4));
  EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.begin() + 4).size(), 4U);
}

// Four WGs, two ranks: position p is WG p % 4's. In turn WGs 0 and 2 make slices for the peer
// alone.
TEST(DestinationOrder, rotating_a_turn_begins_later_with_each_round_of_wgs) {
  const auto peers_of_wg = [](DestinationOrder order, std::size_t wg) {
    const std::vector<Logical> all = slice_order({{0, 0}}, order, 0, 6, 4);
    Ranks of_wg;
    for (std::size_t at = wg; at < all.size(); at += 4) of_wg.push_back(all[at].peer);
    return of_wg;
  };
  EXPECT_EQ(peers_of_wg(DestinationOrder::in_turn, 0), (Ranks{1, 1, 1}));
  EXPECT_EQ(peers_of_wg(DestinationOrder::rotating, 0), (Ranks{1, 0, 1}));
  EXPECT_EQ(peers_of_wg(DestinationOrder::rotating, 3), (Ranks{0, 1, 0}));
  // Each slice of each rank once, though five WGs are no whole turns of three.
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Logical& slice : slice_order({{0, 0, 0}}, DestinationOrder::rotating, 1, 7, 5)) {
    seen.insert({slice.peer, slice.index});
  }
  EXPECT_EQ(seen.size(), 21U);
}

TEST(DestinationOrder, nodes_may_be_visited_in_any_numbering_and_hold_unequally_many) {
  // Node 5 has one rank, node 7 two: rank 1 stands second in node 7.
  EXPECT_EQ(peers({7, 7, 5}, DestinationOrder::remote_first, 1), (Ranks{2, 0, 1}));
}

TEST(DestinationOrder, no_two_ranks_send_to_one_at_a_time) {
  for (const DestinationOrder order :
       {DestinationOrder::remote_first, DestinationOrder::local_first,
        DestinationOrder::staggered}) {
    for (std::size_t step = 0; step < kThreeNodesOfTwo.size(); ++step) {
      std::set<std::uint32_t> sent_to;
      for (std::uint32_t rank = 0; rank < kThreeNodesOfTwo.size(); ++rank) {
        sent_to.insert(peers(kThreeNodesOfTwo, order, rank)[step]);
      }
      EXPECT_EQ(sent_to.size(), kThreeNodesOfTwo.size()) << "step " << step;
    }
  }
}

TEST(DestinationOrder, a_peer_has_all_its_slices_in_a_row_unless_staggered) {
  const std::vector<Logical> in_a_row =
      slice_order({kFourNodes}, DestinationOrder::remote_first, 0, 2);
  EXPECT_EQ(in_a_row[0].peer, in_a_row[1].peer);
  const std::vector<Logical> staggered =
      slice_order({kFourNodes}, DestinationOrder::staggered, 0, 2);
  EXPECT_NE(staggered[0].peer, staggered[1].peer);
  EXPECT_EQ(staggered.back().peer, 0U);
}

// As {rank, index}, two slices of each.
std::vector<std::pair<std::uint32_t, std::uint32_t>> two_slices(const Destinations& to,
                                                                DestinationOrder order,
                                                                std::uint32_t rank) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const Logical& slice : slice_order(to, order, rank, 2)) {
    all.emplace_back(slice.peer, slice.index);
  }
  return all;
}

TEST(DestinationOrder, peers_of_its_node_with_links_of_their_own_take_turns) {
  using Slices = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const Destinations node{.node_of = {0, 0, 0}, .own_links = true};
  EXPECT_EQ(two_slices(node, DestinationOrder::remote_first, 1),
            (Slices{{2, 0}, {0, 0}, {2, 1}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(two_slices(node, DestinationOrder::local_first, 1),
            (Slices{{1, 0}, {1, 1}, {2, 0}, {0, 0}, {2, 1}, {0, 1}}));
}

TEST(DestinationOrder, peers_of_other_nodes_share_a_nic_and_do_not_take_turns) {
  using Slices = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const Destinations nodes{.node_of = {0, 0, 1, 1}, .own_links = true};
  EXPECT_EQ(two_slices(nodes, DestinationOrder::remote_first, 0),
            (Slices{{2, 0}, {2, 1}, {3, 0}, {3, 1}, {1, 0}, {1, 1}, {0, 0}, {0, 1}}));
}

}  // namespace
}  // namespace weft::destination_order_test
