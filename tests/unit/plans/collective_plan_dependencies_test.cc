// Who waits for whom in a plan, and in which order a rank sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/plans/collective_plan.h"

namespace weft::collective_plan_dependencies_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(PlanDependencies, a_chain_hands_on_from_transfer_to_transfer) {
  // 0 -> 1 -> 2 -> 3: each transfer waits for the one before, and rank 3 keeps the last.
  const Dependencies waits = dependencies(broadcast_ring(identity_order(4), 0));
  EXPECT_EQ(waits.arrivals, (Numbers{0, 1, 1}));
  EXPECT_EQ(waits.taken_in_by, (Numbers{1, 2, 3}));
  EXPECT_EQ(waits.finals, (std::vector<FinalReceive>{{.rank = 3, .arrivals = 1}}));
}

TEST(PlanDependencies, only_the_first_child_of_a_tree_waits_for_the_parent) {
  // 0 -> 2 -> {3, 1}: rank 2's second transfer comes after its first, which has waited.
  const Plan plan = broadcast_tree(identity_order(4), 0);
  ASSERT_EQ(plan.transfers, (std::vector<Transfer>{
                                {.from = 0, .to = 2}, {.from = 2, .to = 3}, {.from = 2, .to = 1}}));
  const Dependencies waits = dependencies(plan);
  EXPECT_EQ(waits.arrivals, (Numbers{0, 1, 0}));
  EXPECT_EQ(waits.finals, (std::vector<FinalReceive>{{3, 1}, {1, 1}}));
}

TEST(PlanDependencies, an_owner_waits_for_all_contributions_before_it_hands_out_the_sum) {
  const Plan plan = all_reduce(Scheme::direct, identity_order(4));
  const Dependencies waits = dependencies(plan);
  // 12 transfers in, which wait for nothing; of each owner's three out the first waits for all.
  ASSERT_EQ(plan.phases, (Numbers{0, 12}));
  for (std::uint32_t t = 0; t < 24; ++t) EXPECT_EQ(waits.arrivals[t], t / 4 == 3 ? 3U : 0U) << t;
  EXPECT_EQ(waits.finals.size(), 12U);  // a copy of each of three blocks at each of four ranks
}

TEST(PlanDependencies, one_shot_waits_once_for_everybody_and_never_sends_on) {
  const Dependencies waits = dependencies(all_reduce_one_shot(5));
  EXPECT_EQ(std::count(waits.arrivals.begin(), waits.arrivals.end(), 0U), 20);
  ASSERT_EQ(waits.finals.size(), 5U);
  for (const FinalReceive& final : waits.finals) EXPECT_EQ(final.arrivals, 4U);
}

TEST(PlanDependencies, a_run_that_is_sent_on_in_parts_is_taken_in_by_the_first) {
  Plan plan{.collective = Collective::broadcast, .ranks = 3, .blocks = 4};
  plan.transfers = {{.from = 0, .to = 1, .block = 0, .blocks = 4},
                    {.from = 1, .to = 2, .block = 2, .blocks = 2},
                    {.from = 1, .to = 2, .block = 0, .blocks = 2}};
  const Dependencies waits = dependencies(plan);
  EXPECT_EQ(waits.arrivals, (Numbers{0, 1, 0}));
  EXPECT_EQ(waits.taken_in_by, (Numbers{1, 3, 4}));
  EXPECT_EQ(steps(plan), 2U);
}

TEST(PlanDependencies, what_arrives_after_the_last_send_is_final) {
  // Ring all-reduce of 3: step by step, 12 transfers; the last three arrivals stay.
  const Dependencies waits = dependencies(all_reduce(Scheme::ring, identity_order(3)));
  EXPECT_EQ(waits.arrivals, (Numbers{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(waits.taken_in_by, (Numbers{4, 5, 3, 7, 8, 6, 10, 11, 9, 12, 13, 14}));
  EXPECT_EQ(waits.finals, (std::vector<FinalReceive>{{1, 1}, {2, 1}, {0, 1}}));
}

TEST(PlanDependencies, programs_are_the_transfers_of_each_rank_in_plan_order) {
  const Programs all = programs(broadcast_tree(identity_order(4), 0));
  EXPECT_EQ(all.first, (Numbers{0, 1, 1, 3, 3}));
  EXPECT_EQ(all.transfers, (Numbers{0, 1, 2}));
}

TEST(PlanDependencies, direct_peers_are_visited_in_spreading_order) {
  // Of 8 ranks in steps of 5: 5, 2, 7, 4, 1, 6, 3.
  const Plan plan = all_to_all(8);
  Numbers peers;
  for (const Transfer& transfer : plan.transfers) {
    if (transfer.from == 0) peers.push_back(transfer.to);
  }
  EXPECT_EQ(peers, (Numbers{5, 2, 7, 4, 1, 6, 3}));
}

}  // namespace
}  // namespace weft::collective_plan_dependencies_test
