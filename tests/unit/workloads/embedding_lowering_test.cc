// The three lowerings of the same embedding: same work, same bytes, different grains.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/scenario/modes.h"
#include "tests/unit/engine/simulated.h"

namespace weft::embedding_lowering_test {
namespace {

// 4 GPUs, 16 samples each / 2 rows a WG x 5 tables = 40 WGs a destination, of 2 x 64 x 4 B.
Scenario small(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: small
cluster: {base: clusters/node_4x_mi210}
workload:
  kind: embedding_all_to_all
  batch: 64
  tables_per_gpu: 5
  rows_per_table: 1000
  dim: 64
  pooling: 3
  rows_per_wg: 2
kernel: {chunks: 2}
fused: {slice_wgs: 4}
)",
                     sets);
}

TaskGraph lowered(const Scenario& scenario, Mode mode) {
  return lower(scenario, build_cluster(scenario.cluster), mode);
}

std::int64_t bytes_sent(const TaskGraph& graph) {
  std::int64_t sum = 0;
  for (const Send& send : graph.sends) sum += send.size;
  return sum;
}

// Destinations of GPU `gpu`'s slices in the order of its work list; its own is `gpu`.
std::vector<std::uint32_t> destinations(const TaskGraph& graph, std::uint32_t gpu) {
  std::vector<std::uint32_t> order;
  const Kernel& kernel = graph.kernels[KernelId(gpu)];
  for (std::uint32_t i = 0; i < kernel.items; ++i) {
    const LatchId latch = graph.item(kernel, i).counts_down;
    const std::uint32_t to =
        latch.is_none() ? gpu : graph.sends[graph.latches[latch].first_send].to;
    if (order.empty() || order.back() != to) order.push_back(to);
  }
  return order;
}

std::map<std::uint32_t, int> sends_by_size(const TaskGraph& graph) {
  std::map<std::uint32_t, int> sizes;
  for (const Send& send : graph.sends) sizes[send.size] += 1;
  return sizes;
}
using Sizes = std::map<std::uint32_t, int>;

TEST(EmbeddingLowering, sends_the_same_bytes_in_every_mode) {
  // 12 pairs, 40 WGs of 512 B each; fused, in slices of one, as many flags of 8 B.
  constexpr std::int64_t kAll = std::int64_t{4} * 3 * 40 * 512;
  constexpr std::int64_t kFlags = std::int64_t{4} * 3 * 40 * 8;
  const Scenario scenario = small({"fused.slice_wgs=1"});
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    const std::int64_t flags = mode == Mode::fused ? kFlags : 0;
    EXPECT_EQ(bytes_sent(lowered(scenario, mode)), kAll + flags) << name_of(mode);
  }
}

TEST(EmbeddingLowering, fused_in_a_node_stores_every_result_and_flags_every_slice) {
  // 40 WGs a destination in slices of 4: 40 stores of 512 B and 10 flags of 8 B for each of 12
  // pairs.
  EXPECT_EQ(sends_by_size(lowered(small(), Mode::fused)), (Sizes{{8, 120}, {512, 480}}));
  // Slices of one WG: as many flags.
  EXPECT_EQ(sends_by_size(lowered(small({"fused.slice_wgs=1"}), Mode::fused)),
            (Sizes{{8, 480}, {512, 480}}));
  // A flag a peer: one.
  EXPECT_EQ(sends_by_size(lowered(small({"fused.flag_per=peer"}), Mode::fused)),
            (Sizes{{8, 12}, {512, 480}}));
}

TEST(EmbeddingLowering, fused_between_nodes_puts_slices) {
  // 10 puts of 2,048 B a pair, their flags with them; with a flag a peer one message more.
  const std::vector<std::string> nodes{"cluster.base=clusters/nodes_2x_mi210", "cluster.nodes=4"};
  EXPECT_EQ(sends_by_size(lowered(small(nodes), Mode::fused)), (Sizes{{2048, 120}}));
  std::vector<std::string> peer = nodes;
  peer.push_back("fused.flag_per=peer");
  EXPECT_EQ(sends_by_size(lowered(small(peer), Mode::fused)), (Sizes{{8, 12}, {2048, 120}}));
}

TEST(EmbeddingLowering, kernel_mode_gives_every_table_to_one_chunk) {
  // 5 tables in 2 chunks: 2 and 3 tables, 64 and 96 WGs (4 destinations x 8 blocks a table).
  const TaskGraph graph = lowered(small(), Mode::kernel);
  std::vector<std::uint32_t> wgs;
  for (const Kernel& kernel : graph.kernels) {
    if (kernel.gpu.value == 0 && kernel.role == KernelRole::compute) wgs.push_back(kernel.items);
  }
  EXPECT_EQ(wgs, (std::vector<std::uint32_t>{64, 96}));
}

TEST(EmbeddingLowering, every_mode_pools_every_row) {
  // 4 GPUs x 64 samples x 5 tables x 3 rows x 64 adds.
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    EXPECT_EQ(run(small(), mode).ledger.flops.done, std::int64_t{4} * 64 * 5 * 3 * 64);
  }
}

TEST(EmbeddingLowering, orders_destinations_as_it_is_told) {
  using Order = std::vector<std::uint32_t>;
  const auto order_of = [](const std::string& order) {
    return destinations(lowered(small({"fused.order=" + order, "fused.slice_wgs=40"}), Mode::fused),
                        1);
  };
  EXPECT_EQ(order_of("remote_first"), (Order{2, 3, 0, 1}));
  EXPECT_EQ(order_of("local_first"), (Order{1, 2, 3, 0}));
  EXPECT_EQ(order_of("given"), (Order{0, 1, 2, 3}));
}

TEST(EmbeddingLowering, staggered_takes_one_slice_of_each_peer_in_turn) {
  const std::vector<std::uint32_t> order =
      destinations(lowered(small({"fused.order=staggered"}), Mode::fused), 1);
  ASSERT_EQ(order.size(), 3U * 10 + 1);
  for (std::size_t i = 0; i + 3 < 30; ++i) EXPECT_EQ(order[i], order[i + 3]);
  EXPECT_EQ(order.back(), 1U);
}

TEST(EmbeddingLowering, gives_a_wg_the_same_work_in_every_mode) {
  // Jitter belongs to the WG, not to its turn: the sums over a GPU's WGs agree.
  const Scenario scenario = small({"workload.jitter=0.3"});
  std::vector<std::uint64_t> sums;
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    const TaskGraph graph = lowered(scenario, mode);
    std::uint64_t sum = 0;
    for (const Kernel& kernel : graph.kernels) {
      if (kernel.gpu.value != 2 || kernel.role == KernelRole::collective) continue;
      for (std::uint32_t i = 0; i < kernel.items; ++i) {
        sum += graph.item(kernel, i).scale;
      }
    }
    sums.push_back(sum);
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

TEST(EmbeddingLowering, of_a_kernel_for_each_table_runs_them_one_after_another) {
  const auto computing = [](const TaskGraph& graph) {
    std::vector<std::uint32_t> items;
    for (const Kernel& kernel : graph.kernels) {
      if (kernel.role == KernelRole::compute && kernel.gpu == GpuId(0))
        items.push_back(kernel.items);
    }
    return items;
  };
  // 40 WGs a destination and four destinations: 160 in one kernel, or 32 in each of five.
  EXPECT_EQ(computing(lowered(small(), Mode::bulk)), (std::vector<std::uint32_t>{160}));
  const Scenario apart = small({"workload.kernels=per_table"});
  EXPECT_EQ(computing(lowered(apart, Mode::bulk)),
            (std::vector<std::uint32_t>{32, 32, 32, 32, 32}));
  // Each waits for the one before: four gaps more, at least.
  EXPECT_GE(run(apart).time - run(small()).time, apart.cluster.gpu.launch.queue * 4);
}

TEST(EmbeddingLowering, of_a_kernel_for_each_table_takes_table_after_table) {
  EXPECT_THROW(small({"workload.kernels=per_table", "workload.walk=by_sample"}),
               std::runtime_error);
}

}  // namespace
}  // namespace weft::embedding_lowering_test
