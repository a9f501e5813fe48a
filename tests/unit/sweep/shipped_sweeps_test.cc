// The sweeps in configs/sweeps: every point of every one loads.
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/sweep/plan.h"

namespace weft::shipped_sweeps_test {
namespace {

namespace fs = std::filesystem;

TEST(ShippedSweeps, load_with_all_their_points) {
  const fs::path configs = fs::path(WEFT_SOURCE_DIR) / "configs";
  int sweeps = 0;
  for (const auto& entry : fs::directory_iterator(configs / "sweeps")) {
    const auto dirs = [&configs](const fs::path&) { return std::vector<fs::path>{configs}; };
    const LoadedPlan loaded = load_plan(entry.path(), {.sets = {}, .config_dirs = dirs});
    ASSERT_TRUE(loaded.plan.has_value()) << loaded.problems.to_text();
    EXPECT_EQ(loaded.plan->name, entry.path().stem().string());
    PointLoader loader(*loaded.plan);
    for (const Point& point : loaded.plan->points) {
      const Loaded scenario = loader.load(point);
      EXPECT_TRUE(scenario.scenario.has_value()) << scenario.problems.to_text();
    }
    ++sweeps;
  }
  EXPECT_GE(sweeps, 3);
}

}  // namespace
}  // namespace weft::shipped_sweeps_test
