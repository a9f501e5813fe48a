// Recorded kernels that ask the HBM for what their shapes say.
#include "sim/models/recorded_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/models/run_model.h"
#include "sim/traces/peak_shares.h"
#include "tests/unit/engine/simulated.h"
#include "tests/unit/models/hand_made.h"

namespace weft::recorded_kernel_test {
namespace {

// 1 TB/s that bend with 2.6; writes cost as much as reads; 10^18 operations a second. Nothing else
// takes time.
Scenario scenario() {
  return scenario_of(R"(
name: two GPUs
cluster:
  name: two GPUs
  nodes: 1
  gpus_per_node: 2
  gpu: {base: gpus/ideal, cus: 4, memory: {bandwidth: 1 TB/s, bend: 2.6}}
  scale_up: {shape: fully_connected, link: {bandwidth: 100 GB/s, latency: 0 ns}}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
run: {repeats: each}
)");
}

RecordedShape moving(std::int64_t read, std::int64_t written = 0) {
  RecordedShape shape;
  shape.time = microseconds(100);
  shape.wgs = 8;
  shape.work = RecordedWork{
      .kind = RecordedKind::elementwise, .read = bytes(read), .written = bytes(written)};
  return shape;
}

double us_of(const std::vector<RecordedShape>& at_once) {
  HandMadeModel model;
  const PlaceId place = model.groups(0, 1, 1);
  std::uint32_t stream = 0;
  for (const RecordedShape& shape : at_once)
    model.add("kernel", "compute", shape, place, {}, stream++);
  const Scenario two = scenario();
  const Cluster cluster = build_cluster(two.cluster);
  ModelRun run(two, cluster, model.graph);
  const RunResult result = run.run(Mode::bulk, {});
  EXPECT_TRUE(result.ledger.balanced());
  return to_microseconds(result.time);
}

// Whatever it moves, also more than the HBM can.
TEST(RecordedKernel, takes_its_recorded_time_alone) {
  for (const std::int64_t megabytes : {1, 50, 90, 99, 300}) {
    EXPECT_NEAR(us_of({moving(megabytes * 1'000'000)}), 100, 0.2) << megabytes;
  }
  EXPECT_NEAR(us_of({moving(25'000'000, 25'000'000)}), 100, 0.2);
}

// Each by itself asks for half of the HBM: T^p = alone^p + 50^p. Two at once:
// (alone^p + 100^p)^(1/p) = 100 (2 - 0.5^2.6)^(1/2.6) = 126.3 us.
TEST(RecordedKernel, shares_the_hbm_with_what_runs_beside_it) {
  const double together = 100 * std::pow(2 - std::pow(0.5, 2.6), 1 / 2.6);
  EXPECT_NEAR(together, 126.3, 0.1);
  EXPECT_NEAR(us_of({moving(50'000'000), moving(50'000'000)}), together, 0.3);
}

TEST(RecordedKernel, recorded_beside_others_is_slowed_no_second_time) {
  RecordedShape shape = moving(50'000'000);
  shape.beside = true;
  EXPECT_NEAR(us_of({shape, moving(50'000'000)}), 100, 0.2);
  // Nor do two wait for one another's places, though each fills all CUs by itself.
  shape.threads = 1024;
  RecordedShape full = shape;
  full.time = microseconds(60);
  full.work.reset();
  EXPECT_NEAR(us_of({full, shape}), 100, 0.2);
  full.beside = shape.beside = false;
  EXPECT_NEAR(us_of({full, shape}), 160, 0.2);
}

TEST(RecordedKernel, says_what_of_the_peaks_it_reached) {
  const GpuSpec gpu = scenario().cluster.gpu;
  EXPECT_NEAR(share_of_peak(moving(60'000'000), gpu), 0.6, 1e-9);
  RecordedShape gemm = moving(1'000'000);
  gemm.work->kind = RecordedKind::gemm;
  gemm.work->matrix = true;
  gemm.work->flops = flops(70'000'000'000'000);  // at 10^18 a second: 70 us
  EXPECT_NEAR(share_of_peak(gemm, gpu), 0.7, 1e-9);
  gemm.work->element_bytes = 1;  // of twice the peak
  EXPECT_NEAR(share_of_peak(gemm, gpu), 0.35, 1e-9);
  EXPECT_EQ(share_of_peak(RecordedShape{}, gpu), 0);

  HandMadeModel model;
  const PlaceId place = model.groups(0, 1, 1);
  gemm.work->element_bytes = 2;
  model.add("good", "gemm", gemm, place, {});
  RecordedShape unknown;
  unknown.time = microseconds(100);
  model.add("unknown", "compute", unknown, place, {});
  const std::string good = peak_shares_text(model.graph, gpu);
  EXPECT_NE(good.find("for 50 % of the kernels' time"), std::string::npos) << good;
  EXPECT_NE(good.find("0.70 (0.70 to 0.70), 1 kernels"), std::string::npos) << good;
  EXPECT_EQ(good.find("warning"), std::string::npos) << good;
  // A short one counts where there is no longer one; a copy from the host does not use the HBM.
  RecordedShape brief = gemm;
  brief.time = microseconds(10);
  model.add("brief", "gemm", brief, place, {});
  RecordedShape copy = moving(1'000'000);
  model.add("Memcpy HtoD (Pinned -> Device)", "copy", copy, place, {});
  const std::string same = peak_shares_text(model.graph, gpu);
  EXPECT_NE(same.find("0.70 (0.70 to 0.70), 2 kernels"), std::string::npos) << same;
  EXPECT_EQ(same.find("copy"), std::string::npos) << same;
  gemm.work->flops = flops(130'000'000'000'000);
  model.add("impossible", "gemm", gemm, place, {});
  const std::string odd = peak_shares_text(model.graph, gpu);
  EXPECT_NE(odd.find("the longest is 'impossible', 1.30"), std::string::npos) << odd;
}

}  // namespace
}  // namespace weft::recorded_kernel_test
