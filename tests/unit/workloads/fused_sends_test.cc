// How the WGs of a fused kernel send, and what it costs them. 4 MI210, in one node or one a node.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::fused_sends_test {
namespace {

// 8 x 4 tiles of 128 x 128 bf16, 32 KiB each: 8 tiles for each of 4 GPUs, in slices of 2.
Scenario gemm(const std::string& kind, std::vector<std::string> sets = {}) {
  sets.push_back("workload.kind=" + kind);
  return scenario_of(R"(
name: gemm
cluster: {base: clusters/node_4x_mi210}
workload:
  kind: gemm_all_to_all
  gemm: {m: 1024, n: 512, k: 1024, order: row}
modes: [fused]
fused: {slice_wgs: 2}
)",
                     sets);
}

std::vector<std::string> between_nodes(std::vector<std::string> sets = {}) {
  sets.insert(sets.end(), {"cluster.base=clusters/nodes_2x_mi210", "cluster.nodes=4"});
  return sets;
}

TaskGraph lowered(const Scenario& scenario) {
  return lower(scenario, build_cluster(scenario.cluster), Mode::fused);
}

std::map<std::uint32_t, int> by_size(const TaskGraph& graph) {
  std::map<std::uint32_t, int> sizes;
  for (const Send& send : graph.sends) sizes[send.size] += 1;
  return sizes;
}
std::map<int, int> by_entries(const TaskGraph& graph) {
  std::map<int, int> entries;
  for (const Send& send : graph.sends) entries[send.entries] += 1;
  return entries;
}
using Sizes = std::map<std::uint32_t, int>;
using Entries = std::map<int, int>;
constexpr std::uint32_t kTile = 128 * 128 * 2;

TEST(FusedSends, store_each_tile_and_flag_each_slice) {
  // 12 pairs of 8 tiles, 4 slices.
  EXPECT_EQ(by_size(lowered(gemm("gemm_all_to_all"))), (Sizes{{8, 48}, {kTile, 96}}));
}

TEST(FusedSends, staged_store_each_slice_whole) {
  EXPECT_EQ(by_size(lowered(gemm("gemm_all_to_all", {"fused.staging=staged"}))),
            (Sizes{{8, 48}, {2 * kTile, 48}}));
}

TEST(FusedSends, of_parts_that_are_added_up_first_are_staged) {
  // 4 slices of 2 tiles, 2 WGs each: 4 WGs a slice, one message.
  const TaskGraph graph = lowered(gemm("gemm_all_to_all", {"workload.gemm.split_k=2"}));
  EXPECT_EQ(by_size(graph), (Sizes{{8, 48}, {2 * kTile, 48}}));
  std::map<std::uint32_t, int> targets;  // of the latches that WGs open
  for (std::uint32_t l = 0; l < graph.latches.size(); ++l) {
    if (graph.sends_of(LatchId(l)).count > 0) targets[graph.latches[LatchId(l)].target] += 1;
  }
  EXPECT_EQ(targets[4], 48);
}

TEST(FusedSends, staged_read_the_result_again_and_for_a_nic_write_it_too) {
  // Zero copy: what the kernel itself does. A tile is 32 KiB.
  const auto local_work = [](const TaskGraph& graph) {
    const Kernel& kernel = graph.kernels[KernelId(0)];
    return graph.works[graph.item(kernel, kernel.items - 1).work].traffic;
  };
  const Bytes own = local_work(lowered(gemm("gemm_all_to_all")));
  EXPECT_EQ(local_work(lowered(gemm("gemm_all_to_all", {"fused.staging=staged"}))) - own,
            kibibytes(32));
  const Bytes out = local_work(lowered(gemm("gemm_all_to_all", between_nodes())));
  EXPECT_EQ(out, own);
  EXPECT_EQ(
      local_work(lowered(gemm("gemm_all_to_all", between_nodes({"fused.staging=staged"})))) - own,
      kibibytes(64));
}

TEST(FusedSends, between_nodes_put_payload_fence_and_flag) {
  const TaskGraph graph = lowered(gemm("gemm_all_to_all", between_nodes()));
  EXPECT_EQ(by_size(graph), (Sizes{{2 * kTile, 48}}));
  EXPECT_EQ(by_entries(graph), (Entries{{3, 48}}));
}

TEST(FusedSends, put_by_waves_or_threads_have_an_entry_for_each) {
  // 256 threads, 4 waves of 64; fence and flag are two more.
  EXPECT_EQ(by_entries(lowered(gemm("gemm_all_to_all", between_nodes({"fused.put_by=wave"})))),
            (Entries{{4 + 2, 48}}));
  EXPECT_EQ(by_entries(lowered(gemm("gemm_all_to_all", between_nodes({"fused.put_by=thread"})))),
            (Entries{{256 + 2, 48}}));
}

TEST(FusedSends, of_threads_apart_fill_a_quarter_of_their_lines) {
  const auto rate = [](const std::vector<std::string>& sets) {
    return lowered(gemm("gemm_all_to_all", sets)).kernels[KernelId(0)].store_rate;
  };
  EXPECT_EQ(rate({"cluster.gpu.peer_store.wg_rate=8 GB/s"}), gigabytes_per_second(8));
  EXPECT_EQ(rate({"cluster.gpu.peer_store.wg_rate=8 GB/s", "fused.put_by=thread"}),
            gigabytes_per_second(2));
}

TEST(FusedSends, one_flag_a_peer_comes_behind_everything_for_it) {
  // Its puts are ordered, so that it cannot overtake them.
  const TaskGraph graph = lowered(gemm("gemm_all_to_all", between_nodes({"fused.flag_per=peer"})));
  EXPECT_EQ(by_size(graph), (Sizes{{8, 12}, {2 * kTile, 48}}));
  for (const Send& send : graph.sends) EXPECT_EQ(send.ordered, 1);
  // In a node the flag waits for 8 tiles, each stored and fenced by its WG.
  EXPECT_EQ(by_size(lowered(gemm("gemm_all_to_all", {"fused.flag_per=peer"}))),
            (Sizes{{8, 12}, {kTile, 96}}));
}

TEST(FusedSends, are_posted_by_whom_the_nic_says) {
  for (const char* by : {"gpu", "proxy"}) {
    const Scenario scenario =
        gemm("gemm_all_to_all", between_nodes({std::string("cluster.nic.initiated_by=") + by}));
    for (const Kernel& kernel : lowered(scenario).kernels) {
      EXPECT_EQ(kernel.puts_by, by == std::string("gpu") ? InitiatedBy::gpu : InitiatedBy::proxy);
    }
  }
}

TEST(FusedSends, by_a_proxy_take_its_time_and_not_the_wgs) {
  // 3 peers, 4 slices, 3 entries of 10 us each: 360 us of the thread; 36 times 10 us of the WGs
  // where these post themselves.
  const auto used = [](const char* by) {
    return run(gemm("gemm_all_to_all",
                    between_nodes({std::string("cluster.nic.initiated_by=") + by,
                                   "cluster.nic.proxy_operation=10 us", "cluster.nic.post=10 us",
                                   "cluster.nic.flush=0 ns"})),
               Mode::fused)
        .gpus[0];
  };
  EXPECT_EQ(used("proxy").proxy, microseconds(360));
  EXPECT_EQ(used("proxy").waits[static_cast<std::size_t>(Wait::post)], Duration{});
  EXPECT_EQ(used("gpu").proxy, Duration{});
  EXPECT_EQ(used("gpu").waits[static_cast<std::size_t>(Wait::post)], microseconds(360));
}

TEST(FusedReductions, read_all_parts_add_them_and_write_the_sum) {
  // A slice of 2 tiles: 64 KiB of each of 4 GPUs read, 64 KiB written; 3 adds for each of 2 x 128 x
  // 128 elements.
  const TaskGraph graph = lowered(gemm("gemm_reduce_scatter"));
  const Kernel& kernel = graph.kernels[KernelId(0)];
  EXPECT_EQ(kernel.items, 32U + 4);
  const Work& work = graph.works[graph.item(kernel, 32).work];
  EXPECT_EQ(work.traffic, kibibytes(5 * 64));
  EXPECT_EQ(work.flops, flops(3 * 2 * 128 * 128));
}

// The own part is neither written nor read: 64 KiB of each of 3 others read, 64 KiB of the sum
// written.
TEST(FusedReductions, with_the_own_part_read_those_of_others) {
  const TaskGraph graph = lowered(gemm("gemm_reduce_scatter", {"fused.add=with_own"}));
  const Kernel& kernel = graph.kernels[KernelId(0)];
  EXPECT_EQ(kernel.items, 32U + 4);
  const Work& work = graph.works[graph.item(kernel, 32).work];
  EXPECT_EQ(work.traffic, kibibytes((3 + 1) * 64));
  EXPECT_EQ(work.flops, flops(3 * 2 * 128 * 128));
  const auto own_tile = [](const TaskGraph& of) {  // the last of the tiles
    return of.works[of.item(of.kernels[KernelId(0)], 31).work].traffic;
  };
  EXPECT_EQ(own_tile(lowered(gemm("gemm_reduce_scatter"))) - own_tile(graph), kibibytes(32));
}

// Each GPU's 104 CUs hold all tiles at once. With two WGs a GPU a round is two tiles, a slice: its
// sum follows the second.
TEST(FusedReductions, with_the_own_part_follow_each_round_of_own_tiles) {
  const TaskGraph graph =
      lowered(gemm("gemm_reduce_scatter",
                   {"fused.add=with_own", "fused.max_wgs_per_cu=1", "cluster.gpu.cus=2"}));
  const Kernel& kernel = graph.kernels[KernelId(0)];
  std::vector<std::uint32_t> sums;
  for (std::uint32_t i = 0; i < kernel.items; ++i) {
    if (!graph.item(kernel, i).waits_for.is_none()) sums.push_back(i);
  }
  EXPECT_EQ(sums, (std::vector<std::uint32_t>{24 + 2, 24 + 5, 24 + 8, 24 + 11}));
}

// One flag of each peer says that all has come: a WG that waited for it after its first own tile
// would keep the others from being made.
TEST(FusedReductions, with_one_flag_per_peer_follow_all_tiles) {
  const TaskGraph graph =
      lowered(gemm("gemm_reduce_scatter", {"fused.add=with_own", "fused.flag_per=peer",
                                           "fused.max_wgs_per_cu=1", "cluster.gpu.cus=2"}));
  const Kernel& kernel = graph.kernels[KernelId(0)];
  ASSERT_EQ(kernel.items, 32U + 4);
  for (std::uint32_t i = 0; i < kernel.items; ++i) {
    EXPECT_EQ(graph.item(kernel, i).waits_for.is_none(), i < 32) << i;
  }
}

// A wave sends, the WGs that compute add up, and hand an all-reduce's sums to the wave.
TEST(FusedReductions, are_the_wgs_where_waves_send) {
  const auto waiting = [](const TaskGraph& graph, std::uint32_t kernel) {
    const Kernel& of = graph.kernels[KernelId(kernel)];
    std::uint32_t items = 0;
    for (std::uint32_t i = 0; i < of.items; ++i) {
      items += graph.item(of, i).waits_for.is_none() ? 0U : 1U;
    }
    return items;
  };
  const TaskGraph scattered = lowered(gemm("gemm_reduce_scatter", {"fused.sent_by=wave"}));
  EXPECT_EQ(scattered.kernels.size(), 8U);
  EXPECT_EQ(waiting(scattered, 0), 12U);  // the slices of three peers
  EXPECT_EQ(scattered.kernels[KernelId(1)].items, 32U + 4);
  const TaskGraph reduced = lowered(gemm("gemm_all_reduce", {"fused.sent_by=wave"}));
  EXPECT_EQ(waiting(reduced, 0), 12U + 4);
  EXPECT_EQ(reduced.kernels[KernelId(1)].items, 32U + 4);
}

TEST(FusedReductions, by_small_loads_wait_for_each_of_them) {
  // 64 KiB of sums by 256 threads of 4 B: 64 steps. A step waits for a word of each of 4 parts: 400
  // ns and 2 x 50 ns for two doublings.
  const TaskGraph graph =
      lowered(gemm("gemm_reduce_scatter", {"fused.add_load=4 B",
                                           "cluster.gpu.gather={latency: 400 ns, "
                                           "doubling: 50 ns, cached: 200 ns, "
                                           "unfairness: 0}"}));
  const Kernel& kernel = graph.kernels[KernelId(0)];
  EXPECT_EQ(graph.works[graph.item(kernel, 32).work].memory_alone,
            nanoseconds(64 * (400 + 2 * 50)));
}

TEST(FusedReductions, of_an_all_reduce_send_the_sum_to_everyone) {
  // Beside 96 tiles and 48 flags: 4 sums of 2 tiles of each GPU to 3 others, and their flags.
  EXPECT_EQ(by_size(lowered(gemm("gemm_all_reduce"))),
            (Sizes{{8, 48 + 48}, {kTile, 96}, {2 * kTile, 48}}));
}

TEST(FusedReductions, with_one_flag_a_peer_wait_for_everything) {
  const TaskGraph graph = lowered(gemm("gemm_reduce_scatter", {"fused.flag_per=peer"}));
  const Kernel& kernel = graph.kernels[KernelId(1)];
  const LatchId first = graph.item(kernel, 32).waits_for;
  for (std::uint32_t s = 1; s < 4; ++s) {
    EXPECT_EQ(graph.item(kernel, 32 + s).waits_for, first);
  }
  EXPECT_EQ(graph.latches[first].target, 3U + 8);  // a flag of each peer, its own WGs
}

// 2 GPUs of 6 CUs with a WG each, 1 TFLOP/s a CU; a tile of k = 1024 takes 33.554432 us. One tile
// is of A's rows that are here, one of the peer's: 256 KiB in 4 pieces.
Scenario gathered(const std::vector<std::string>& sets = {}) {
  std::vector<std::string> all{"cluster.gpu.cus=6", "cluster.gpu.cu.wgs=1",
                               "cluster.gpu.bf16_matrix=6 TFLOP/s"};
  all.insert(all.end(), sets.begin(), sets.end());
  return scenario_of(R"(
name: gathered
cluster:
  name: one node
  nodes: 1
  gpus_per_node: 2
  gpu: {base: gpus/ideal}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}
workload:
  kind: all_gather_gemm
  gemm: {m: 256, n: 128, k: 1024, efficiency: 1}
modes: [fused]
)",
                     all);
}

TEST(FusedInput, starts_a_tile_when_its_rows_are_here) {
  // 262,144 B at 50 GB/s are 5,242,880 ps, 500 ns to the peer; then the last piece's flag, 8 B in
  // 160 ps and 500 ns, and the tile. 16 ps at most for reading the pieces.
  const Duration least = picoseconds(5'242'880 + 500'000 + 160 + 500'000 + 33'554'432);
  const RunResult result = run(gathered(), Mode::fused);
  EXPECT_GE(result.time, least);
  EXPECT_LE(result.time, least + picoseconds(16));
}

TEST(FusedInput, sees_a_flag_after_the_poll) {
  const Duration at_once = run(gathered(), Mode::fused).time;
  EXPECT_EQ(run(gathered({"cluster.gpu.peer_store.flag=2 us"}), Mode::fused).time,
            at_once + microseconds(2));
}

TEST(FusedInput, of_its_own_rows_waits_for_nothing) {
  // A link of 1 ms: the tile of its own rows, 33.554432 us, is done long before. The wait is that
  // of the other tile alone: 4 places send, and then find nothing to do.
  const TaskGraph graph = lowered(gathered());
  const Kernel& kernel = graph.kernels[KernelId(0)];
  ASSERT_EQ(kernel.items, 4U + 1 + 1);
  EXPECT_TRUE(graph.item(kernel, 4).waits_for.is_none());
  EXPECT_FALSE(graph.item(kernel, 5).waits_for.is_none());
}

}  // namespace
}  // namespace weft::fused_sends_test
