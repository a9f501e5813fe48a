// How many work-groups (WGs) fit on a CU, and what limits them.
#include "sim/gpu_model/residency.h"

#include <gtest/gtest.h>

namespace weft::residency_test {
namespace {

// 32 waves of 64 lanes, 131072 registers, 64 KiB of LDS, 16 WG slots.
CuResources cu() { return {.waves = 32, .registers = 131'072, .lds = kibibytes(64), .wgs = 16}; }

TEST(Residency, threads_become_whole_waves) {
  EXPECT_EQ(footprint(256, 1, bytes(0), 64).waves, 4);
  EXPECT_EQ(footprint(257, 1, bytes(0), 64).waves, 5);
  EXPECT_EQ(footprint(1, 1, bytes(0), 64).waves, 1);
  EXPECT_EQ(footprint(256, 1, bytes(0), 32).waves, 8);
}

TEST(Residency, registers_are_those_of_all_threads_and_lds_is_that_of_the_wg) {
  const WgFootprint wg = footprint(256, 72, kibibytes(3), 64);
  EXPECT_EQ(wg.registers, 256 * 72);
  EXPECT_EQ(wg.lds, kibibytes(3));
}

TEST(Residency, waves_limit_wgs_of_many_threads) {
  // 1024 threads are 16 waves: 32 / 16 = 2. 1025 are 17: 1.
  EXPECT_EQ(wgs_per_cu(cu(), footprint(1'024, 32, bytes(0), 64)), 2);
  EXPECT_STREQ(occupancy_limit(cu(), footprint(1'024, 32, bytes(0), 64)), "waves");
  EXPECT_EQ(wgs_per_cu(cu(), footprint(1'025, 1, bytes(0), 64)), 1);
}

TEST(Residency, eight_registers_more_cost_an_eighth_of_the_wgs) {
  // The 12.5 % of a fused kernel: 131072 / (256 x 64) = 8; 131072 / (256 x 72) = 7.1, so 7;
  // 1 - 7/8 = 12.5 %.
  CuResources roomy = cu();
  roomy.waves = 64;
  EXPECT_EQ(wgs_per_cu(roomy, footprint(256, 64, bytes(0), 64)), 8);
  EXPECT_EQ(wgs_per_cu(roomy, footprint(256, 72, bytes(0), 64)), 7);
  EXPECT_STREQ(occupancy_limit(roomy, footprint(256, 72, bytes(0), 64)), "registers");
}

TEST(Residency, one_register_more_than_fits_is_one_wg_less) {
  CuResources tight = cu();
  tight.registers = 4 * 256 * 64;
  EXPECT_EQ(wgs_per_cu(tight, footprint(256, 64, bytes(0), 64)), 4);
  tight.registers -= 1;
  EXPECT_EQ(wgs_per_cu(tight, footprint(256, 64, bytes(0), 64)), 3);
}

TEST(Residency, lds_limits_wgs_that_use_much_of_it) {
  // 64 KiB / 20 KiB = 3.2; with one byte more than 16 KiB each, the fourth does not fit.
  EXPECT_EQ(wgs_per_cu(cu(), footprint(64, 1, kibibytes(20), 64)), 3);
  EXPECT_STREQ(occupancy_limit(cu(), footprint(64, 1, kibibytes(20), 64)), "LDS");
  EXPECT_EQ(wgs_per_cu(cu(), footprint(64, 1, kibibytes(16), 64)), 4);
  EXPECT_EQ(wgs_per_cu(cu(), footprint(64, 1, kibibytes(16) + bytes(1), 64)), 3);
}

TEST(Residency, small_wgs_are_limited_by_their_slots) {
  EXPECT_EQ(wgs_per_cu(cu(), footprint(64, 1, bytes(0), 64)), 16);
  EXPECT_STREQ(occupancy_limit(cu(), footprint(64, 1, bytes(0), 64)), "WG slots");
}

TEST(Residency, a_wg_that_is_too_large_does_not_fit_at_all) {
  EXPECT_EQ(wgs_per_cu(cu(), footprint(64, 1, kibibytes(65), 64)), 0);
  EXPECT_EQ(wgs_per_cu(cu(), footprint(33 * 64, 1, bytes(0), 64)), 0);
  EXPECT_EQ(wgs_per_cu(cu(), footprint(1'024, 129, bytes(0), 64)), 0);
}

}  // namespace
}  // namespace weft::residency_test
