// What the plans of collectives cost: transfers, steps, bytes. The closed forms, by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/plans/collective_plan.h"

namespace weft::collective_plan_costs_test {
namespace {

struct Cost {
  std::size_t transfers = 0;
  std::uint32_t steps = 0;
  std::int64_t sent = 0;      // by the busiest rank
  std::int64_t received = 0;  // by the busiest rank
  bool operator==(const Cost&) const = default;
};

void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.transfers << " transfers, " << cost.steps << " steps, " << cost.sent << " B sent, "
       << cost.received << " B received";
}

Cost cost_of(const Plan& plan, std::int64_t buffer) {
  Cost cost{.transfers = plan.transfers.size(), .steps = steps(plan)};
  for (const RankBytes& rank : rank_bytes(plan, bytes(buffer))) {
    cost.sent = std::max(cost.sent, rank.sent.count());
    cost.received = std::max(cost.received, rank.received.count());
  }
  return cost;
}

std::uint32_t log2_up(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n - 1));  // ceil(log2 n)
}

// A buffer of 1000 B for each block, so that all forms are whole numbers.
constexpr std::int64_t kBlock = 1000;

TEST(PlanCosts, ring_all_reduce_sends_twice_n_minus_1_blocks_in_as_many_steps) {
  for (const std::uint32_t n : {2U, 3U, 8U, 17U}) {
    const std::int64_t sent = 2 * (n - 1) * kBlock;  // 2(n-1)/n of n blocks
    EXPECT_EQ(cost_of(all_reduce(Scheme::ring, identity_order(n)), n * kBlock),
              (Cost{std::size_t{2} * n * (n - 1), 2 * (n - 1), sent, sent}));
  }
}

TEST(PlanCosts, direct_all_reduce_sends_the_same_in_two_steps) {
  for (const std::uint32_t n : {2U, 3U, 8U, 17U}) {
    const std::int64_t sent = 2 * (n - 1) * kBlock;
    EXPECT_EQ(cost_of(all_reduce(Scheme::direct, identity_order(n)), n * kBlock),
              (Cost{std::size_t{2} * n * (n - 1), 2, sent, sent}));
  }
}

TEST(PlanCosts, one_shot_all_reduce_sends_n_minus_1_buffers_in_one_step) {
  for (const std::uint32_t n : {2U, 3U, 8U, 17U}) {
    const std::int64_t sent = (n - 1) * kBlock;
    EXPECT_EQ(cost_of(all_reduce_one_shot(n), kBlock),
              (Cost{std::size_t{n} * (n - 1), 1, sent, sent}));
  }
}

TEST(PlanCosts, halving_and_doubling_takes_twice_log_n_steps) {
  for (const std::uint32_t n : {2U, 4U, 8U, 64U}) {
    const std::uint32_t log = log2_up(n);
    const std::int64_t sent = 2 * (n - 1) * kBlock;
    EXPECT_EQ(cost_of(all_reduce(Scheme::halving, identity_order(n)), n * kBlock),
              (Cost{std::size_t{2} * n * log, 2 * log, sent, sent}));
  }
}

TEST(PlanCosts, halving_folds_the_ranks_above_a_power_of_two) {
  // 13 = 8 + 5. 5 fold in and 5 get the result: 10 transfers of the whole buffer, a step before and
  // one behind. A rank with a folded one receives and sends it as well as its own 2 x 7/8.
  const std::int64_t busiest = 2 * 7 * kBlock + 8 * kBlock;
  EXPECT_EQ(cost_of(all_reduce(Scheme::halving, identity_order(13)), 8 * kBlock),
            (Cost{10 + 2 * 8 * 3, 2 * 3 + 2, busiest, busiest}));
}

TEST(PlanCosts, a_tree_goes_up_and_down_the_chains_of_the_nodes) {
  // One node of 8: a chain. Each rank but the ends sends one up and one down.
  EXPECT_EQ(cost_of(all_reduce_tree(tree_of_chains({0}, identity_order(8))), kBlock),
            (Cost{14, 14, 2 * kBlock, 2 * kBlock}));
  // 8 nodes of 4: 0 - 4 - {2, 6} - {1, 3, 5, 7}, depth 3, behind chains of 3 hops. The head of node
  // 4 sends one up, two down to heads and one into its chain.
  EXPECT_EQ(cost_of(all_reduce_tree(tree_of_chains(identity_order(8), {2, 3, 0, 1})), kBlock),
            (Cost{2 * 31, 2 * (3 + 3), 4 * kBlock, 4 * kBlock}));
  for (const std::uint32_t n : {2U, 3U, 5U, 6U, 16U, 17U, 1000U}) {
    const Plan plan = all_reduce_tree(tree_of_chains(identity_order(n), {0}));
    EXPECT_EQ(plan.transfers.size(), 2 * (n - 1));
    EXPECT_EQ(steps(plan), 2 * log2_up(n)) << n;
  }
}

TEST(PlanCosts, two_trees_of_half_the_buffer_load_no_rank_with_more_than_two_buffers) {
  for (std::uint32_t n = 2; n < 40; ++n) {
    std::vector<std::int64_t> sent(n);
    for (const RankOrder& order : tree_orders(n)) {
      const Plan plan = all_reduce_tree(tree_of_chains(order, {0}));
      const std::vector<RankBytes> half = rank_bytes(plan, bytes(kBlock / 2));
      for (std::uint32_t r = 0; r < n; ++r) sent[r] += half[r].sent.count();
    }
    EXPECT_LE(*std::max_element(sent.begin(), sent.end()), 2 * kBlock) << n;
  }
}

TEST(PlanCosts, hierarchical_all_reduce_sends_little_between_nodes) {
  // 4 nodes of 8: 7/8 inside, 1/8 x 2 x 3/4 between, 7/8 inside; 1 + 2 x 3 + 1 steps. In blocks of
  // 1/32: 28 + 6 + 28.
  const Plan plan = all_reduce_hierarchical({.ranks = 32, .ranks_per_node = 8});
  EXPECT_EQ(cost_of(plan, 32 * kBlock),
            (Cost{32 * 7 + 32 * 6 + 32 * 7, 8, 62 * kBlock, 62 * kBlock}));
  Bytes between;
  for (const Transfer& transfer : plan.transfers) {
    if (transfer.from / 8 != transfer.to / 8) between += bytes_of(plan, transfer, bytes(32'000));
  }
  EXPECT_EQ(between, bytes(32 * 6 * kBlock));
  // With halving between: 1 + 2 x 2 + 1.
  EXPECT_EQ(steps(all_reduce_hierarchical(
                {.ranks = 32, .ranks_per_node = 8, .between = Scheme::halving})),
            6U);
}

TEST(PlanCosts, gathering_and_scattering_send_n_minus_1_blocks) {
  for (const std::uint32_t n : {2U, 3U, 8U, 13U, 17U}) {
    const RankOrder order = identity_order(n);
    const std::int64_t sent = (n - 1) * kBlock;
    const std::size_t pairs = std::size_t{n} * (n - 1);
    const auto gather = [&](Scheme scheme) {
      return cost_of(all_gather(scheme, order), n * kBlock);
    };
    const auto scatter = [&](Scheme scheme) {
      return cost_of(reduce_scatter(scheme, order), n * kBlock);
    };
    EXPECT_EQ(gather(Scheme::ring), (Cost{pairs, n - 1, sent, sent}));
    EXPECT_EQ(scatter(Scheme::ring), (Cost{pairs, n - 1, sent, sent}));
    EXPECT_EQ(gather(Scheme::direct), (Cost{pairs, 1, sent, sent}));
    EXPECT_EQ(scatter(Scheme::direct), (Cost{pairs, 1, sent, sent}));
    for (const Cost& cost : {gather(Scheme::halving), scatter(Scheme::halving)}) {
      // Of 2^k + 1 ranks the step for the last one carries nothing that came by another.
      EXPECT_EQ(cost.steps, n > 2 && std::has_single_bit(n - 1) ? log2_up(n - 1) : log2_up(n));
      EXPECT_EQ(cost.sent, sent);
      EXPECT_EQ(cost.received, sent);
      EXPECT_LE(cost.transfers, std::size_t{2} * n * log2_up(n));
    }
  }
  EXPECT_EQ(all_gather(Scheme::halving, identity_order(8)).transfers.size(), 24U);  // 8 x log2 8
}

TEST(PlanCosts, all_to_all_sends_every_pair_once) {
  EXPECT_EQ(cost_of(all_to_all(8), 8 * kBlock), (Cost{56, 1, 7 * kBlock, 7 * kBlock}));
  // Rank 0 has nothing for 1, and 5 + 7 B for 2 from 0 and 1; what is its own stays.
  const Plan uneven = all_to_all_uneven(3, {9, 0, 5,  //
                                            1, 9, 7,  //
                                            2, 3, 9});
  EXPECT_EQ(cost_of(uneven, 1), (Cost{5, 1, 8, 12}));
}

TEST(PlanCosts, a_broadcast_sends_the_buffer_once_to_everybody) {
  const RankOrder order = identity_order(8);
  EXPECT_EQ(cost_of(broadcast_ring(order, 3), kBlock), (Cost{7, 7, kBlock, kBlock}));
  EXPECT_EQ(cost_of(broadcast_tree(order, 3), kBlock), (Cost{7, 3, 2 * kBlock, kBlock}));
  EXPECT_EQ(cost_of(broadcast_direct(8, 3), kBlock), (Cost{7, 1, 7 * kBlock, kBlock}));
  EXPECT_EQ(cost_of(point_to_point({.ranks = 8, .from = 3, .to = 5}), kBlock),
            (Cost{1, 1, kBlock, kBlock}));
}

TEST(PlanCosts, one_rank_has_nothing_to_send) {
  const RankOrder alone = identity_order(1);
  for (const Scheme scheme : {Scheme::ring, Scheme::direct, Scheme::halving}) {
    EXPECT_TRUE(all_gather(scheme, alone).transfers.empty());
    EXPECT_TRUE(reduce_scatter(scheme, alone).transfers.empty());
    EXPECT_TRUE(all_reduce(scheme, alone).transfers.empty());
  }
  EXPECT_TRUE(all_reduce_one_shot(1).transfers.empty());
  EXPECT_TRUE(all_reduce_tree(tree_of_chains({0}, alone)).transfers.empty());
  EXPECT_TRUE(all_reduce_hierarchical({.ranks = 1, .ranks_per_node = 1}).transfers.empty());
  EXPECT_TRUE(all_to_all(1).transfers.empty());
  EXPECT_TRUE(broadcast_ring(alone, 0).transfers.empty());
  EXPECT_TRUE(broadcast_tree(alone, 0).transfers.empty());
  EXPECT_TRUE(broadcast_direct(1, 0).transfers.empty());
  EXPECT_EQ(steps(all_to_all(1)), 0U);
  EXPECT_TRUE(dependencies(all_to_all(1)).finals.empty());
}

}  // namespace
}  // namespace weft::collective_plan_costs_test
