// The order of the items of a fused kernel whose input arrives.
#include "sim/workloads/consumer_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::consumer_order_test {
namespace {

// Five slices of two WGs from each of three ranks; a slice is sent in two pieces.
ConsumerShape shape(bool at_once, std::uint32_t parts) {
  return {.ranks = 3,
          .pieces = 2,
          .slice_of = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4},
          .slices = 5,
          .at_once = at_once,
          .parts = parts};
}

ConsumerShape in_turn(std::uint32_t own_first) {
  ConsumerShape of = shape(false, 1);
  of.own_first = own_first;
  return of;
}

ConsumerShape sent_first(ConsumerShape of) {
  of.sent_first = true;
  return of;
}

const std::vector<ConsumerShape> kAll = {shape(false, 1),
                                         shape(true, 3),
                                         shape(true, 1),
                                         in_turn(1),
                                         in_turn(3),
                                         in_turn(1'000),
                                         sent_first(shape(false, 1))};

std::size_t place_of_send(const std::vector<ConsumerItem>& items, std::uint32_t peer,
                          std::uint32_t piece) {
  const auto is = [&](const ConsumerItem& item) {
    return item.sends && item.peer == peer && item.index == piece;
  };
  return static_cast<std::size_t>(std::find_if(items.begin(), items.end(), is) - items.begin());
}

TEST(ConsumerOrder, has_every_wg_and_every_piece_for_every_peer_once) {
  for (const ConsumerShape& of : kAll) {
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, int> times;
    for (const ConsumerItem& item : consumer_items(of, 1)) {
      ++times[{item.sends, item.peer, item.index}];
    }
    EXPECT_EQ(times.size(), 3U * 10 + 2U * 10);  // WGs of three ranks; pieces for two peers
    for (const auto& [item, count] : times) EXPECT_EQ(count, 1);
  }
}

// Two own WGs, with the sends; then the third of each rank, of the previous one next, and so on;
// the first two of the others are left for the end.
TEST(ConsumerOrder, in_turn_takes_a_wg_of_each_rank_after_some_own_ones) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> works;
  for (const ConsumerItem& item : consumer_items(in_turn(2), 1)) {
    if (!item.sends) works.emplace_back(item.peer, item.index);
  }
  ASSERT_EQ(works.size(), 30U);
  using Works = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(Works(works.begin(), works.begin() + 6),
            (Works{{1, 0}, {1, 1}, {1, 2}, {0, 2}, {2, 2}, {1, 3}}));
  EXPECT_EQ(Works(works.end() - 4, works.end()), (Works{{0, 0}, {2, 0}, {0, 1}, {2, 1}}));
}

// Each piece to the next rank, then to the one after it; then the own work, and theirs.
TEST(ConsumerOrder, sent_first_is_all_sent_before_anything_is_computed) {
  const std::vector<ConsumerItem> items = consumer_items(sent_first(shape(false, 1)), 1);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sends;
  for (std::size_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(items[i].sends);
    sends.emplace_back(items[i].peer, items[i].index);
  }
  EXPECT_EQ(std::vector(sends.begin(), sends.begin() + 4),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{2, 0}, {0, 0}, {2, 1}, {0, 1}}));
  for (std::size_t i = 20; i < items.size(); ++i) {
    EXPECT_EQ(items[i].peer, (1 + (i - 20) / 10) % 3);
    EXPECT_EQ(items[i].index, (i - 20) % 10);
  }
}

// Grids may be as small as one WG: if the n-th item of every rank is a wait, what it waits for must
// be among the items before it of the rank that sends.
TEST(ConsumerOrder, sends_what_a_wg_waits_for_before_any_rank_comes_to_that_wg) {
  for (const ConsumerShape& of : kAll) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const std::vector<ConsumerItem> items = consumer_items(of, rank);
      for (std::size_t at = 0; at < items.size(); ++at) {
        if (items[at].sends || items[at].peer == rank) continue;
        const std::vector<ConsumerItem> of_peer = consumer_items(of, items[at].peer);
        const std::uint32_t slice = of.slice_of[items[at].index];
        for (std::uint32_t piece = 2 * slice; piece < 2 * slice + 2; ++piece) {
          EXPECT_LT(place_of_send(of_peer, rank, piece), at);
        }
      }
    }
  }
}

TEST(ConsumerOrder, goes_to_one_peer_after_another_or_to_all_in_turn) {
  const auto peers_of_sends = [](const ConsumerShape& of) {
    std::vector<std::uint32_t> peers;
    for (const ConsumerItem& item : consumer_items(of, 0)) {
      if (item.sends) peers.push_back(item.peer);
    }
    peers.resize(4);
    return peers;
  };
  EXPECT_EQ(peers_of_sends(shape(false, 1)), (std::vector<std::uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(peers_of_sends(shape(true, 3)), (std::vector<std::uint32_t>{1, 2, 1, 2}));
  EXPECT_EQ(peers_of_sends(shape(true, 1)), (std::vector<std::uint32_t>{1, 2, 1, 2}));
}

}  // namespace
}  // namespace weft::consumer_order_test
