// Memories slower than the links that end at them.
#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::slow_memory_test {
namespace {

TEST(SlowMemory, takes_in_an_exchange_at_its_own_rate) {
  // Each of two GPUs writes 1 MB of the other's, which 50 GB/s carry in 20 us; its channels read 1
  // MB. At 1.6 GB/s, of which arriving messages get 15/16, writing alone takes 1 MB / 1.5 GB/s =
  // 667 us, and both together no less than 2 MB / 1.6 GB/s = 1250 us. The links are as fast as
  // ever.
  const RunResult result = run(one_node({"cluster.gpu.memory.bandwidth=1.6 GB/s"}));
  EXPECT_GE(result.time, microseconds(1'250));
  EXPECT_LE(result.time, microseconds(1'950));  // read, then written: the sum of both
  EXPECT_EQ(result.ledger.overdrawn, "");
  EXPECT_EQ(result.links[0].use.busy, microseconds(20));
}

TEST(SlowMemory, that_a_nic_reads_from_holds_the_message) {
  // 1 MB of each GPU's 2 MB leaves its node by 25 GB/s. Staged: 1 MB read, 1 MB written, 1 MB read
  // by the NIC; as much at the receiver.
  const RunResult result = run(two_nodes({"cluster.gpu.memory.bandwidth=1.6 GB/s"}));
  EXPECT_EQ(result.ledger.overdrawn, "");
  for (const GpuUse& gpu : result.gpus) {
    EXPECT_LE(transfer_time(gpu.hbm, bytes_per_second(1'600'000'000)), result.time);
  }
}

// The cases that were found: HBM 112, 136 and 100.3 % busy.
TEST(SlowMemory, is_never_busier_than_there_is_time) {
  struct Case {
    const char* scenario;
    const char* set;
    Mode mode;
  };
  for (const Case& found :
       {Case{"gemm_rs_4_gpus", "cluster.gpu.memory.bandwidth=1 GB/s", Mode::fused},
        Case{"all_reduce_8x_mi300x", "cluster.gpu.memory.bandwidth=10 GB/s", Mode::bulk},
        Case{"embedding_a2a_4_gpus", "cluster.scale_up.link.bandwidth=300000 Gb/s", Mode::fused}}) {
    const Scenario scenario =
        scenario_of_file("scenarios/" + std::string(found.scenario) + ".yaml", {found.set});
    const RunResult result = run(scenario, found.mode);
    EXPECT_EQ(result.ledger.overdrawn, "") << found.scenario;
    EXPECT_TRUE(result.ledger.balanced());
  }
}

}  // namespace
}  // namespace weft::slow_memory_test
