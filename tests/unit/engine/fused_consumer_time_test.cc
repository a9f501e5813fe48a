// Fused kernels whose input travels: as many WGs send as the links need while the others compute.
#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::fused_consumer_time_test {
namespace {

// Every GPU of a node of B200 gathers 16,384 x 8,192 elements of 2 B, 256 MiB less its own part.
Scenario gathered(int gpus) {
  return scenario_of(
      R"(
name: gathered
cluster: {base: clusters/gb200_nvl72}
workload:
  kind: all_gather_gemm
  gemm: {m: 16384, n: 1024, k: 8192, tile_m: 128, tile_n: 256}
modes: [bulk, fused]
)",
      {"cluster.gpus_per_node=" + std::to_string(gpus)});
}

Duration on_the_wire(const Scenario& scenario) {
  const std::int64_t gpus = scenario.cluster.gpus();
  return transfer_time(bytes(16'384LL * 8'192 * 2 / gpus * (gpus - 1)),
                       scenario.cluster.scale_up->link.bandwidth);
}

TEST(FusedConsumer, takes_the_wire_or_the_gemm_and_not_their_sum) {
  for (const int gpus : {4, 8, 16}) {
    const Scenario scenario = gathered(gpus);
    const RunResult bulk = run(scenario, Mode::bulk);
    const RunResult fused = run(scenario, Mode::fused);
    Duration gemm;
    for (const OperatorUse& use : bulk.operators) {
      if (use.role == KernelRole::compute) gemm = longer(gemm, use.longest);
    }
    const Duration wire = on_the_wire(scenario);
    EXPECT_GT(fused.time, wire);
    // At best the longer of the two and the last tile, a quarter of the GEMM here. More of the GEMM
    // shows: senders hold CUs, and wait for the word of their stores; two WGs share a CU.
    EXPECT_LT(fused.time, longer(wire, gemm) + picoseconds(gemm.count() * 7 / 10)) << gpus;
    EXPECT_LT(fused.time, bulk.time) << gpus;
  }
}

TEST(FusedConsumer, does_not_wait_for_itself_with_a_single_wg_a_gpu) {
  // A WG that works waits for input; what sends that of others must not stand behind it.
  const Scenario scenario = scenario_of(R"(
name: a single WG
cluster: {base: clusters/node_4x_mi210, gpu: {cus: 1}}
workload: {kind: all_gather_gemm, gemm: {m: 1024, n: 256, k: 256, tile_m: 64, tile_n: 64}}
modes: [fused]
fused: {max_wgs_per_cu: 1}
)");
  for (const WorkList list : {WorkList::dynamic_list, WorkList::static_list}) {
    Scenario with_list = scenario;
    with_list.fused.work_list = list;
    const RunResult result = run(with_list, Mode::fused);
    EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
  }
}

}  // namespace
}  // namespace weft::fused_consumer_time_test
