// What putting row by row takes, where it can be counted by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/one_exchange.h"

namespace weft::row_puts_time_test {
namespace {

// Rank 0 sends 100 rows of 5 kB to rank 1, 500 kB, and keeps 10; rank 1 sends none and keeps 20.
CommunicationShape rows(const PutRows& puts) {
  return {.op = CollectiveOp::all_to_all,
          .buffer = bytes(2 * 500'000),
          .pair_bytes = {50'000, 500'000, 0, 100'000},
          .row = bytes(5'000),
          .puts = puts};
}

RunResult run_rows(const Scenario& scenario, const PutRows& puts) {
  return run_exchange(scenario, rows(puts), {0, 1});
}

double time_us(const Scenario& scenario, const PutRows& puts = {}) {
  return to_microseconds(run_rows(scenario, puts).time);
}

// With a wave for each row, 500 kB at 50 GB/s are 10 us. When the last row has arrived, 500 ns
// later, its flag goes the same way.
TEST(RowPutsTime, is_that_of_the_link_and_of_the_last_flag) {
  const std::vector<std::string> waves = {"cluster.gpu.cus=64"};
  EXPECT_NEAR(time_us(one_node(waves)), 10 + 2 * 0.5, 0.01);
  EXPECT_NEAR(time_us(one_node({"cluster.scale_up.link.latency=0 ns"})), 10, 0.01);
}

// A CU has room for two waves, which store 1 GB/s each: 5 us a row. Items are dealt out in turn, of
// the first 20 every other one is a row that stays. So the first of two waves has 10 + 45 rows to
// put; the first of four, 5 + 23.
TEST(RowPutsTime, of_few_cus_is_that_of_their_stores) {
  const std::vector<std::string> slow = {"cluster.gpu.peer_store.wg_rate=1 GB/s",
                                         "cluster.scale_up.link.latency=0 ns"};
  EXPECT_NEAR(time_us(one_node(slow), {.cus = 1}), 55 * 5, 0.02);
  EXPECT_NEAR(time_us(one_node(slow), {.cus = 2}), 28 * 5, 0.02);
}

// The receiver's waves move 100 rows from where they have come: reading 5 kB by 64 threads of 16 B,
// 8 in flight, is one round of the memory's latency; 4 waves take 25 in turn.
TEST(RowPutsTime, packing_comes_after_the_flag) {
  const std::vector<std::string> slow = {"cluster.gpu.memory.latency=1 us",
                                         "cluster.scale_up.link.latency=0 ns"};
  const double put = time_us(one_node(slow));
  EXPECT_NEAR(time_us(one_node(slow), {.packs = true}) - put, 25 * 1, 0.1);
}

// A CU puts a token's rows together: with two at a time, as many as fit, nothing changes, with one
// at a time the other wave has nothing to do. 55 and 110 rows on one CU, each 5 us.
TEST(RowPutsTime, of_tokens_one_by_one_is_that_of_their_rounds) {
  const std::vector<std::string> slow = {"cluster.gpu.peer_store.wg_rate=1 GB/s",
                                         "cluster.scale_up.link.latency=0 ns"};
  EXPECT_NEAR(time_us(one_node(slow), {.cus = 1, .at_once = 2}), 55 * 5, 0.02);
  EXPECT_NEAR(time_us(one_node(slow), {.cus = 1, .at_once = 1}), 100 * 5, 0.05);
}

// A WG stands for as many experts as the others. 6 on four CUs are 2 a WG, so on 3 CUs; 4 and any
// multiple of it are on all.
TEST(RowPutsTime, of_experts_is_that_of_as_many_cus_as_they_share_evenly) {
  const std::vector<std::string> slow = {"cluster.gpu.cus=4",
                                         "cluster.gpu.peer_store.wg_rate=1 GB/s",
                                         "cluster.scale_up.link.latency=0 ns"};
  EXPECT_EQ(time_us(one_node(slow), {.experts = 6}), time_us(one_node(slow), {.cus = 3}));
  EXPECT_EQ(time_us(one_node(slow), {.experts = 8}), time_us(one_node(slow), {.cus = 4}));
  EXPECT_LT(time_us(one_node(slow), {.experts = 8}), time_us(one_node(slow), {.experts = 6}));
}

// Bulk puts rows, too: what keys say of fused kernels does not reach it.
TEST(RowPutsTime, is_the_same_whatever_is_said_of_fused_kernels) {
  const std::vector<std::string> slow = {"cluster.gpu.peer_store.wg_rate=1 GB/s"};
  const double plain = time_us(one_node(slow));
  for (const char* key : {"fused.put_by=thread", "fused.extra_registers_per_thread=200",
                          "fused.fence_by=wave", "fused.acquire=fence"}) {
    EXPECT_EQ(time_us(one_node({slow.front(), key})), plain) << key;
  }
}

// Between nodes all rows go through one NIC; each is an entry of its own in its queue.
TEST(RowPutsTime, between_nodes_is_that_of_the_nic) {
  EXPECT_NEAR(time_us(two_nodes()), 500 / 25.0 + 0.6, 0.7);
  const RunResult slow = run_rows(two_nodes({"cluster.nic.message_rate=1 M/s"}), {});
  EXPECT_NEAR(to_microseconds(slow.time), 100, 3);  // 100 entries and a flag
}

}  // namespace
}  // namespace weft::row_puts_time_test
