// Nothing does more than its rate and the time allow: of a run, and of the sum of a model's pieces.
#include "sim/engine/overdrawn.h"

#include <gtest/gtest.h>

namespace weft::overdrawn_test {
namespace {

// Two GPUs of 4 CUs and 1 TB/s, a byte a picosecond, for 1 us.
class Overdrawn : public ::testing::Test {
 protected:
  void SetUp() override {
    ClusterSpec spec;
    spec.nodes = 1;
    spec.gpus_per_node = 2;
    spec.gpu.cus = 4;
    spec.gpu.memory.bandwidth = gigabytes_per_second(1000);
    cluster_.spec = spec;
    result_.time = microseconds(1);
    result_.gpus.resize(2);
    result_.links.resize(1);
    result_.links[0].name = "node0 0->1";
  }
  Cluster cluster_{.spec = {},
                   .network = {},
                   .memory_bend = Bend(Bend::kCorner),
                   .arithmetic_bend = Bend(Bend::kCorner),
                   .unsound = {}};
  RunResult result_;
};

TEST_F(Overdrawn, nothing_is_where_all_are_busy_all_the_time) {
  for (GpuUse& gpu : result_.gpus) {
    gpu.hbm = bytes(1'000'000);
    gpu.cu_busy = microseconds(4);
    gpu.proxy = microseconds(1);
  }
  result_.links[0].use.busy = microseconds(1);
  EXPECT_EQ(overdrawn(result_, cluster_), "");
}

TEST_F(Overdrawn, what_is_busy_for_longer_is_named) {
  RunResult memory = result_;
  memory.gpus[1].hbm = bytes(1'100'000);
  EXPECT_EQ(overdrawn(memory, cluster_), "HBM of GPU 1 110.0 % busy");
  RunResult cus = result_;
  cus.gpus[0].cu_busy = microseconds(4) + picoseconds(1);
  EXPECT_EQ(overdrawn(cus, cluster_), "CUs or CPU thread of GPU 0 busy for longer than the run");
  RunResult link = result_;
  link.links[0].use.busy = microseconds(2);
  EXPECT_EQ(overdrawn(link, cluster_), "node0 0->1 busy for longer than the run");
}

TEST_F(Overdrawn, a_stragglers_memory_gives_less) {
  cluster_.spec.stragglers = {{.gpu = 1, .clock = 1, .memory = 0.5}};
  result_.gpus[0].hbm = bytes(900'000);
  EXPECT_EQ(overdrawn(result_, cluster_), "");
  result_.gpus[1].hbm = bytes(900'000);
  EXPECT_EQ(overdrawn(result_, cluster_), "HBM of GPU 1 180.0 % busy");
}

}  // namespace
}  // namespace weft::overdrawn_test
