// What sending tokens once takes, where it can be counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/workloads/row_forwards.h"
#include "tests/unit/engine/one_exchange.h"

namespace weft::row_forwards_time_test {
namespace {

// Nodes of two GPUs with room for 2 waves on each of 64 CUs, half of which send; 50 GB/s and 500 ns
// in a node.
Scenario nodes(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: two nodes of two
cluster:
  name: two nodes of two
  nodes: 2
  gpus_per_node: 2
  gpu: {base: gpus/ideal, cus: 64, cu: {wgs: 2}}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}
  scale_out: {shape: switch, link: {bandwidth: 25 GB/s, latency: 300 ns}}
  nic: {base: nics/ideal, per_node: 2, bandwidth: 25 GB/s}
workload: {kind: collective, op: all_to_all, bytes: 4 MB}
)",
                     sets);
}

RunResult run_tokens(const Scenario& scenario, const Reached& reached, bool home) {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(scenario.cluster.gpus_per_node) *
                                 static_cast<std::size_t>(scenario.cluster.nodes));
  std::iota(all.begin(), all.end(), 0U);
  CommunicationShape call;
  call.op = CollectiveOp::all_to_all;
  call.row = bytes(5'000);
  for (std::size_t pair = 0; pair < reached.gpus.size(); ++pair) {
    const std::size_t other = pair % all.size() * all.size() + pair / all.size();
    call.pair_bytes.push_back(5'000 * reached.gpus[home ? other : pair]);
  }
  call.buffer = bytes(4'000'000);
  call.puts = PutRows{.made_from = bytes(5'000), .packs = !home, .reached = reached, .home = home};
  return run_exchange(scenario, std::move(call), std::move(all));
}

double time_us(const Scenario& scenario, const Reached& reached, bool home = false) {
  return to_microseconds(run_tokens(scenario, reached, home).time);
}

// 32 tokens of rank 0 go to rank 3, on the other node: by rank 2, which has its number there.
Reached by_another() {
  Reached reached{.per_node = 2, .gpus = std::vector<std::int64_t>(16), .nodes = {}};
  reached.gpus[3] = 32;
  reached.nodes = {0, 32, 0, 0, 0, 0, 0, 0};
  return reached;
}

// One chunk of 160 kB: 6.4 us at 25 GB/s, two links of 300 ns; stored in 3.2 us at 50 GB/s and 500
// ns, then its flag.
TEST(RowForwardsTime, of_one_chunk_is_that_of_the_nic_and_then_of_the_link) {
  EXPECT_NEAR(time_us(nodes(), by_another()), 6.4 + 0.6 + 3.2 + 2 * 0.5, 0.1);
}

// Home: stored first, added up, then put.
TEST(RowForwardsTime, home_is_the_same_way_back) {
  EXPECT_NEAR(time_us(nodes(), by_another(), true), 3.2 + 2 * 0.5 + 6.4 + 0.6, 0.1);
}

// Ten chunks: the NIC's 64 us hide all but the last chunk's way in the node.
TEST(RowForwardsTime, chunks_are_forwarded_while_others_come) {
  Reached reached = by_another();
  reached.gpus[3] = reached.nodes[1] = 320;
  EXPECT_NEAR(time_us(nodes(), reached), 10 * 6.4 + 0.6 + 3.2 + 2 * 0.5, 0.1);
  // Home, 64 waves store 4 rows each at once, 25.6 us of the link, and the first of them 4 more:
  // the flag of the first chunk comes behind all of these.
  const double home = time_us(nodes(), reached, true);
  EXPECT_GE(home, 25.6 + 0.5 + 10 * 6.4 + 0.6);
  EXPECT_LE(home, 25.6 + 8 * 0.4 + 0.5 + 10 * 6.4 + 0.6);
}

// A token with experts on both GPUs of the other node crosses the NIC once; put row by row it would
// be 12.8 us.
TEST(RowForwardsTime, a_token_crosses_the_nic_once_for_all_of_a_node) {
  Reached reached = by_another();
  reached.gpus[2] = 32;
  EXPECT_NEAR(time_us(nodes(), reached), 6.4 + 0.6 + 3.2 + 2 * 0.5, 0.1);
  // Home its two parts are added up before they do.
  EXPECT_NEAR(time_us(nodes(), reached, true), 3.2 + 2 * 0.5 + 6.4 + 0.6, 0.1);
}

// Everyone to everyone, uneven numbers, some of them none.
TEST(RowForwards, all_arrive_whatever_the_numbers) {
  Reached reached{.per_node = 2, .gpus = {}, .nodes = {}};
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    std::vector<std::int64_t> at;
    for (std::int64_t to = 0; to < 4; ++to) at.push_back((rank * 7 + to * 13) % 5 * 19);
    reached.gpus.insert(reached.gpus.end(), at.begin(), at.end());
    reached.nodes.push_back(std::max(at[0], at[1]));
    reached.nodes.push_back(at[2] + at[3]);
  }
  EXPECT_GT(time_us(nodes(), reached), 0);
  EXPECT_GT(time_us(nodes(), reached, true), 0);
  const Scenario one = one_node({"cluster.gpus_per_node=4", "workload.bytes=4 MB"});
  reached.per_node = 4;
  reached.nodes = {90, 80, 70, 60};
  EXPECT_GT(time_us(one, reached), 0);
  EXPECT_GT(time_us(one, reached, true), 0);
}

}  // namespace
}  // namespace weft::row_forwards_time_test
