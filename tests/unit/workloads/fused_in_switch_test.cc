// Fused kernels whose sums and copies are made by the switch of the node (fused.in_switch).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/workloads/fused_kernel.h"
#include "tests/unit/engine/toy_gemm.h"

namespace weft::fused_in_switch_test {
namespace {

// 8 x 4 tiles of 128 x 128 bf16, 32 KiB each, as much as a WG has in flight: 8 tiles for each of 4
// GPUs, in slices of 2.
TaskGraph lowered(const std::string& kind, std::vector<std::string> sets = {}) {
  sets.insert(sets.end(), {"workload.kind=" + kind, "fused.in_switch=true"});
  const Scenario scenario = scenario_of(R"(
name: gemm
cluster: {base: clusters/node_4x_h200, scale_up: {reduces: true}}
workload:
  kind: gemm_reduce_scatter
  gemm: {m: 1024, n: 512, k: 1024, order: row}
modes: [fused]
fused: {slice_wgs: 2}
)",
                                        sets);
  return lower(scenario, build_cluster(scenario.cluster), Mode::fused);
}

// How many sends there are of each size.
using Sends = std::map<std::pair<InSwitch, std::uint32_t>, int>;
Sends sends_of(const TaskGraph& graph) {
  Sends sends;
  for (const Send& send : graph.sends) sends[{send.in_switch, send.size}] += 1;
  return sends;
}
constexpr std::uint32_t kTile = 128 * 128 * 2;

TEST(FusedInSwitch, results_stay_and_owners_load_their_sums) {
  // 12 pairs of 4 slices: a flag each. 4 owners load 4 slices of 2 tiles.
  const TaskGraph graph = lowered("gemm_reduce_scatter");
  EXPECT_EQ(sends_of(graph),
            (Sends{{{InSwitch::nothing, 8}, 48}, {{InSwitch::reduces, kTile}, 32}}));
  for (const Work& work : graph.works) EXPECT_EQ(work.shares, 1U);  // nothing is stored in parts
}

TEST(FusedInSwitch, sums_of_an_all_reduce_are_stored_once_for_all) {
  const TaskGraph graph = lowered("gemm_all_reduce");
  EXPECT_EQ(sends_of(graph), (Sends{{{InSwitch::nothing, 8}, 48},
                                    {{InSwitch::reduces, kTile}, 32},
                                    {{InSwitch::multicasts, kTile}, 32},
                                    {{InSwitch::multicasts, 8}, 32}}));
}

TEST(FusedInSwitch, with_one_flag_a_peer_owners_wait_for_everything) {
  const TaskGraph graph = lowered("gemm_reduce_scatter", {"fused.flag_per=peer"});
  EXPECT_EQ(sends_of(graph),
            (Sends{{{InSwitch::nothing, 8}, 12}, {{InSwitch::reduces, kTile}, 32}}));
}

TEST(FusedInSwitch, input_is_sent_once_for_all) {
  // A GPU's 256 rows of 1,024 elements of 2 B, in two rows of tiles of 256 KiB: 4 pieces each.
  const TaskGraph graph = lowered("all_gather_gemm");
  EXPECT_EQ(sends_of(graph), (Sends{{{InSwitch::multicasts, 64 * 1024}, 4 * 8},
                                    {{InSwitch::multicasts, 8}, 4 * 8}}));
}

TEST(FusedInSwitch, what_only_one_gpu_gets_is_stored_as_ever) {
  // A pair across nodes, or an all-to-all, has no use for the switch.
  const Scenario scenario = scenario_of(R"(
name: decoder
cluster: {base: clusters/nodes_2x_mi210}
workload: {kind: gemm_reduce_scatter, gemm: {m: 1024, n: 512, k: 1024}}
modes: [fused]
)");
  const Cluster cluster = build_cluster(scenario.cluster);
  FusedOptions fused = scenario.fused;
  fused.in_switch = true;
  EXPECT_FALSE(goes_through_switch(fused, CollectiveOp::reduce_scatter, cluster, {0, 1}));
  EXPECT_FALSE(goes_through_switch(fused, CollectiveOp::all_to_all, cluster, {0}));
  EXPECT_TRUE(goes_through_switch(fused, CollectiveOp::all_reduce, cluster, {0}));
}

// 32 tiles of 100 us a GPU on 8 CUs, half of them for the peer: 16 tiles of 20 kB (toy_gemm.h).
double toy_us(const std::string& kind, std::vector<std::string> sets, Mode mode = Mode::fused) {
  sets.insert(sets.end(), {"fused.in_switch=true", "cluster.scale_up.shape=switch",
                           "cluster.scale_up.reduces=true"});
  return time_us(toy_gemm(kind, sets), mode);
}

TEST(FusedInSwitchTime, of_one_slice_is_tiles_flag_and_the_parts_of_both_owners) {
  // Sums wait for all tiles, 1 + 400 us, and a flag of 8 B. Each GPU's 2 x 320 kB cross its link of
  // 50 GB/s.
  EXPECT_NEAR(toy_us("gemm_reduce_scatter", {"fused.slice_wgs=16"}), 1 + 400 + 12.8, 0.01);
}

TEST(FusedInSwitchTime, of_an_all_reduce_is_limited_by_what_8_wgs_have_in_flight) {
  // 10 pieces, 9 of 32 KiB (0.655 us) and one of 0.502 us. 8 WGs load: 16 parts of both owners go
  // up, then copies of 16 sums come down to each. Only then have WGs time for pieces 8 and 9: two
  // sums, and two copies of each.
  EXPECT_NEAR(toy_us("gemm_all_reduce", {"fused.slice_wgs=16"}),
              1 + 400 + 32 * 0.65536 + 3 * (0.65536 + 0.50176), 0.01);
}

TEST(FusedInSwitchTime, slices_are_added_up_while_the_next_ones_are_made) {
  // Of 16 slices of one tile of each GPU, 8 WGs make four at a time. Sums of those of the last
  // round follow it, 2 x 4 x 20 kB on each link, and of the first that came too late to be among
  // its tiles: 20 kB each.
  const double time = toy_us("gemm_reduce_scatter", {"fused.slice_wgs=1"});
  EXPECT_GE(time, 1 + 400 + 3.2);
  EXPECT_LE(time, 1 + 400 + 3.2 + 1.6 + 0.01);
}

TEST(FusedInSwitchTime, waits_for_the_last_rows_of_a_slow_link) {
  // 4 MB of each GPU in 64 pieces with flags at 1 GB/s come to both; then the last row of tiles.
  const std::vector<std::string> slow = {"fused.sending_cus=4",
                                         "cluster.scale_up.link.bandwidth=1 GB/s"};
  EXPECT_NEAR(toy_us("all_gather_gemm", slow, Mode::role_split), 1 + 2 * (4000 + 64 * 0.008) + 100,
              0.01);
}

}  // namespace
}  // namespace weft::fused_in_switch_test
