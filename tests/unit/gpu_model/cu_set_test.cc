// Dispatch of WGs to CUs: round robin, over whole CUs, back when they end.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/rng.h"
#include "sim/gpu_model/residency.h"

namespace weft::cu_set_test {
namespace {

CuResources cu() { return {.waves = 8, .registers = 4'096, .lds = kibibytes(8), .wgs = 4}; }

WgFootprint wg_of(int waves) { return {.waves = waves, .registers = 64, .lds = bytes(0)}; }

TEST(CuSet, wgs_go_to_the_cus_in_turn) {
  CuSet cus(3, cu());
  EXPECT_EQ(cus.cus(), 3U);
  for (const std::uint32_t expected : {0U, 1U, 2U, 0U, 1U, 2U, 0U}) {
    EXPECT_EQ(cus.place(wg_of(1)), expected);
  }
  EXPECT_EQ(cus.resident_wgs(0), 3);
  EXPECT_EQ(cus.resident_wgs(1), 2);
}

TEST(CuSet, a_full_cu_is_passed_over_and_the_turn_goes_on_behind_it) {
  CuSet cus(3, cu());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(cus.place_on(1, wg_of(1)));
  EXPECT_EQ(cus.place(wg_of(1)), 0U);
  EXPECT_EQ(cus.place(wg_of(1)), 2U);  // not 1
  EXPECT_EQ(cus.place(wg_of(1)), 0U);
}

TEST(CuSet, a_full_gpu_takes_no_wg_until_one_ends) {
  CuSet cus(2, cu());
  for (int i = 0; i < 2 * 4; ++i) ASSERT_NE(cus.place(wg_of(1)), CuSet::kNone);
  EXPECT_EQ(cus.place(wg_of(1)), CuSet::kNone);
  EXPECT_FALSE(cus.place_on(0, wg_of(1)));
  cus.release(1, wg_of(1));
  EXPECT_EQ(cus.place(wg_of(1)), 1U);
  EXPECT_EQ(cus.place(wg_of(1)), CuSet::kNone);
}

TEST(CuSet, a_cu_holds_as_many_wgs_as_wgs_per_cu_says) {
  const std::vector<WgFootprint> wgs = {
      {.waves = 3, .registers = 0, .lds = bytes(0)},             // 8 / 3 = 2
      {.waves = 1, .registers = 1'366, .lds = bytes(0)},         // 4096 / 1366 = 2
      {.waves = 1, .registers = 0, .lds = kibibytes(4)},         // 8 / 4 = 2
      {.waves = 1, .registers = 0, .lds = bytes(8 * 1'024 - 1)}  // 1
  };
  for (const WgFootprint& wg : wgs) {
    CuSet cus(1, cu());
    int placed = 0;
    while (cus.place(wg) != CuSet::kNone) ++placed;
    EXPECT_EQ(placed, wgs_per_cu(cu(), wg));
  }
}

TEST(CuSet, a_large_wg_finds_the_one_cu_with_room_and_never_shares_what_is_taken) {
  CuSet cus(3, cu());
  ASSERT_TRUE(cus.place_on(0, wg_of(5)));
  ASSERT_TRUE(cus.place_on(1, wg_of(1)));
  ASSERT_TRUE(cus.place_on(2, wg_of(3)));
  EXPECT_EQ(cus.place(wg_of(6)), 1U);  // 3, 7 and 5 waves are free
  EXPECT_EQ(cus.place(wg_of(6)), CuSet::kNone);
  EXPECT_EQ(cus.place(wg_of(5)), 2U);
}

TEST(CuSet, all_that_was_taken_comes_back) {
  Rng rng(1, "test/cu_set");
  CuSet cus(5, cu());
  std::vector<std::pair<std::uint32_t, WgFootprint>> resident;
  std::vector<int> waves(5, 0);
  for (int step = 0; step < 20'000; ++step) {
    if (rng.between(0, 1) == 0) {
      const WgFootprint wg = wg_of(static_cast<int>(rng.between(1, 4)));
      const std::uint32_t cu_index = cus.place(wg);
      if (cu_index == CuSet::kNone) continue;
      resident.emplace_back(cu_index, wg);
      waves[cu_index] += wg.waves;
      ASSERT_LE(waves[cu_index], 8);
      ASSERT_LE(cus.resident_wgs(cu_index), 4);
    } else if (!resident.empty()) {
      const auto i =
          static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(resident.size()) - 1));
      cus.release(resident[i].first, resident[i].second);
      waves[resident[i].first] -= resident[i].second.waves;
      resident[i] = resident.back();
      resident.pop_back();
    }
  }
  for (const auto& [cu_index, wg] : resident) cus.release(cu_index, wg);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(cus.resident_wgs(i), 0);
  for (int i = 0; i < 5 * 4; ++i) EXPECT_NE(cus.place(wg_of(2)), CuSet::kNone);
}

TEST(CuSetDeathTest, ending_more_wgs_than_were_placed_aborts) {
  CuSet cus(1, cu());
  ASSERT_EQ(cus.place(wg_of(1)), 0U);
  cus.release(0, wg_of(1));
  EXPECT_DEATH(cus.release(0, wg_of(1)), "free.wgs <= slots_");
}

}  // namespace
}  // namespace weft::cu_set_test
