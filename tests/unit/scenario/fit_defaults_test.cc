// A default that does not fit a scenario becomes what does, and says so; what somebody wrote is
// refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/scenario/load.h"

namespace weft::fit_defaults_test {
namespace {

Loaded load(const std::string& text, std::vector<std::string> sets = {}) {
  return load_scenario_text(text, "a.yaml",
                            {.sets = std::move(sets), .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
}

bool says(const Loaded& loaded, const std::string& what) {
  return loaded.problems.to_text().find(what) != std::string::npos;
}

// 2048 rows on 8 GPUs: 2 tiles of 128 a peer.
constexpr const char* kGather = R"(
name: a
cluster: {base: clusters/node_8x_h100}
workload: {kind: all_gather_gemm, gemm: {m: 2048, n: 1024, k: 1024}}
)";

TEST(FitDefaults, chunks_are_as_many_as_a_peer_has) {
  const Loaded fitted = load(kGather);
  ASSERT_TRUE(fitted.scenario) << fitted.problems.to_text();
  EXPECT_EQ(fitted.scenario->kernel.chunks, 2);
  EXPECT_TRUE(says(fitted,
                   "warning: kernel.chunks: 2 replaces the default, 4: each peer has 2 "
                   "rows of tiles"))
      << fitted.problems.to_text();
  const Loaded written = load(kGather, {"kernel.chunks=4"});
  EXPECT_FALSE(written.scenario);
  EXPECT_TRUE(says(written, "error: kernel.chunks: 4 chunks of 2 rows of tiles"));
  // Nobody is told of what is not run.
  EXPECT_EQ(load(kGather, {"modes=[fused]"}).problems.to_text(), "");
}

TEST(FitDefaults, what_fits_is_not_spoken_of) {
  const Loaded loaded = load(kGather, {"workload.gemm.m=8192"});
  EXPECT_EQ(loaded.problems.to_text(), "");
  EXPECT_EQ(loaded.scenario.value().kernel.chunks, 4);
}

TEST(FitDefaults, tiles_divide_the_matrix) {
  // 512 rows on 8 GPUs: 64 a peer. 1120 columns: 112 is the largest divisor up to 128.
  const Loaded fitted = load(kGather, {"workload.gemm.m=512", "workload.gemm.n=1120"});
  ASSERT_TRUE(fitted.scenario) << fitted.problems.to_text();
  EXPECT_EQ(fitted.scenario->workload.gemm.tile_m, 64);
  EXPECT_EQ(fitted.scenario->workload.gemm.tile_n, 112);
  EXPECT_TRUE(says(fitted, "warning: workload.gemm.tile_m: 64"));
  EXPECT_FALSE(load(kGather, {"workload.gemm.m=512", "workload.gemm.tile_m=128"}).scenario);
  // 250 rows a peer have no tile of a multiple of 16.
  EXPECT_FALSE(load(kGather, {"workload.gemm.m=2000"}).scenario);
}

TEST(FitDefaults, fusing_costs_no_more_registers_than_there_are) {
  // 65,536 registers / 256 threads = 256 a thread: 252 leave 4.
  const Loaded fitted = load(kGather, {"workload.gemm.m=8192", "workload.gemm.wg.threads=256",
                                       "workload.gemm.wg.registers_per_thread=252"});
  ASSERT_TRUE(fitted.scenario) << fitted.problems.to_text();
  EXPECT_EQ(fitted.scenario->fused.extra_registers_per_thread, 4);
  EXPECT_TRUE(says(fitted, "warning: fused.extra_registers_per_thread: 4"));
}

TEST(FitDefaults, a_wg_asks_no_more_than_a_cu_has) {
  // 16 KiB of LDS and 16,384 registers: 64 for each of 256 threads, and none left for fusing.
  const Loaded fitted =
      load(kGather, {"cluster.gpu.cu.lds=16 KiB", "cluster.gpu.cu.registers=16384",
                     "cluster.gpu.collective.channel.threads=64",
                     "cluster.gpu.collective.channel.registers_per_thread=64",
                     "cluster.gpu.collective.channel.lds=0 B", "workload.gemm.m=8192"});
  ASSERT_TRUE(fitted.scenario) << fitted.problems.to_text();
  EXPECT_EQ(fitted.scenario->workload.gemm.wg.lds, bytes(16'384));
  EXPECT_EQ(fitted.scenario->workload.gemm.wg.registers_per_thread, 64);
  EXPECT_EQ(fitted.scenario->fused.extra_registers_per_thread, 0);
}

TEST(FitDefaults, nobody_sends_to_itself) {
  const std::string pair = R"(
name: a
cluster: {base: clusters/node_8x_h100}
workload: {kind: collective, op: point_to_point, bytes: 1 MB, root: 1}
)";
  const Loaded fitted = load(pair);
  ASSERT_TRUE(fitted.scenario) << fitted.problems.to_text();
  EXPECT_EQ(fitted.scenario->workload.collective.target, 0);
  EXPECT_FALSE(load(pair, {"workload.target=1"}).scenario);
}

TEST(FitDefaults, strategies_that_part_the_cus_need_two_parts) {
  const std::string c3 = R"(
name: a
cluster: {base: clusters/node_8x_mi300x, gpu: {cus: 8}}
workload:
  kind: c3
  gemm: {m: 1024, n: 1024, k: 1024}
  communication: {op: all_gather, bytes: 1 MB}
)";
  const Loaded fitted = load(c3);
  ASSERT_TRUE(fitted.scenario) << fitted.problems.to_text();
  for (const Mode mode : fitted.scenario->modes) EXPECT_NE(mode, Mode::partition);
  EXPECT_TRUE(says(fitted, "warning: modes: modes that divide the CUs are left out"));
  EXPECT_FALSE(load(c3, {"modes=[partition]"}).scenario);
}

TEST(FitDefaults, another_nic_is_there_as_often) {
  const Loaded loaded = load(R"(
name: a
cluster: {base: clusters/nodes_16x_8x_h100}
workload: {kind: collective, op: all_to_all, bytes: 1 MB}
)",
                             {"cluster.nic={base: nics/connectx6}"});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  EXPECT_EQ(loaded.scenario->cluster.nic->per_node, 8);
  EXPECT_EQ(loaded.scenario->cluster.nic->bandwidth, gigabits_per_second(200));
}

}  // namespace
}  // namespace weft::fit_defaults_test
