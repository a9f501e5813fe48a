#include "sim/report/measures.h"

#include <gtest/gtest.h>

#include "tests/unit/report/made_up_results.h"

namespace weft::measures_test {
namespace {

using testing::add_run;
using testing::wait_of;

TEST(Measures, shares_are_of_all_gpus_and_the_whole_time) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::bulk, microseconds(100),
                              {.computing = 50, .exposed = 40, .cu = 30, .hbm = 20, .link = 10});
  result.gpus[1].cu_busy = Duration{};  // GPU 0 alone: half of it
  const Measures m = measure(report, result);
  EXPECT_DOUBLE_EQ(m.cu_busy, 0.15);
  EXPECT_DOUBLE_EQ(m.hbm_busy, 0.20);
  EXPECT_DOUBLE_EQ(m.hbm_busy_computing, 0.40);
  EXPECT_DOUBLE_EQ(m.link.busy, 0.10);
  EXPECT_EQ(m.computing, microseconds(50));
  EXPECT_EQ(m.exposed, microseconds(40));
}

TEST(Measures, fusing_takes_registers_and_so_residency) {
  RunReport report = testing::two_gpus();
  const RunResult bulk = add_run(report, Mode::bulk, microseconds(1), {});
  const RunResult fused = add_run(report, Mode::fused, microseconds(1), {});
  EXPECT_EQ(measure(report, bulk).wgs_per_cu, 8);   // 131072 registers / (256 x 64)
  EXPECT_EQ(measure(report, fused).wgs_per_cu, 7);  // 131072 registers / (256 x 72) = 7.1
  report.scenario.fused.max_wgs_per_cu = 3;
  EXPECT_EQ(measure(report, bulk).wgs_per_cu, 8);
  EXPECT_EQ(measure(report, fused).wgs_per_cu, 3);
  report.scenario.workload.kind = WorkloadKind::collective;
  EXPECT_EQ(measure(report, bulk).wgs_per_cu, 0);
}

TEST(Measures, waits_are_shares_of_work_and_waiting_together) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::fused, microseconds(3), {});  // 300 us of WGs at work
  wait_of(result, Wait::post) = microseconds(60);
  wait_of(result, Wait::flag) = microseconds(40);
  const Measures m = measure(report, result);
  EXPECT_DOUBLE_EQ(wait_share(m, Wait::post), 0.15);
  EXPECT_DOUBLE_EQ(wait_share(m, Wait::store), 0);
}

TEST(Measures, sums_over_wgs_do_not_overflow) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::fused, microseconds(3), {});
  for (GpuUse& gpu : result.gpus) gpu.waits[0] = Duration::from_count(INT64_MAX);
  EXPECT_DOUBLE_EQ(measure(report, result).wait_us[0], 2 * 9.223372036854775807e12);
}

TEST(Measures, skew_is_the_last_end_against_the_first) {
  RunReport report = testing::two_gpus();
  RunResult& result = add_run(report, Mode::bulk, microseconds(100), {});
  result.gpus[0].end = SimTime{} + microseconds(80);
  EXPECT_DOUBLE_EQ(measure(report, result).gpu_end_skew, 0.25);
}

TEST(Measures, a_run_of_no_time_has_no_shares) {
  RunReport report = testing::two_gpus();
  const Measures m = measure(report, add_run(report, Mode::bulk, Duration{}, {}));
  EXPECT_EQ(m.cu_busy, 0);
  EXPECT_EQ(m.link.busy, 0);
  EXPECT_EQ(m.gpu_end_skew, 0);
}

TEST(Measures, microseconds_are_the_nearest_double) {
  EXPECT_EQ(in_us(picoseconds(300'000)), 0.3);  // 300000 x 1e-6 is 0.3 + 5e-17
  EXPECT_EQ(in_us(picoseconds(1)), 1e-6);
}

}  // namespace
}  // namespace weft::measures_test
