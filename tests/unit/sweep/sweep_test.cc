// A sweep without a command line: what it runs, what it takes over, what it tells.
#include "sim/sweep/sweep.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/sweep/interrupt.h"

namespace weft::sweep_test {
namespace {

namespace fs = std::filesystem;

class Sweeps : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // Two nodes of one GPU, with these batches.
  [[nodiscard]] SweepPlan plan(const std::string& batches) const {
    std::ofstream(folder_ / "sweep.yaml")
        << "name: test\nscenario: scenarios/embedding_a2a_2_nodes.yaml\n"
        << "set: {modes: [fused], workload.tables_per_gpu: 4}\n"
        << "axes:\n  - {key: workload.batch, values: [" << batches << "]}\n";
    const auto dirs = [](const fs::path&) {
      return std::vector<fs::path>{fs::path(WEFT_SOURCE_DIR) / "configs"};
    };
    LoadedPlan loaded = load_plan(folder_ / "sweep.yaml", {.sets = {}, .config_dirs = dirs});
    EXPECT_EQ(loaded.problems.to_text(), "");
    return loaded.plan.value_or(SweepPlan{});
  }

  // All of it; the rows.
  std::vector<Row> run(const std::string& batches) {
    const SweepPlan planned = plan(batches);
    const Say keep = [this](const std::string& text) { told_.push_back(text); };
    Sweep sweep(planned, {.folder = folder_ / "out", .sets = {}, .jobs = 2},
                {.info = keep, .warning = keep, .error = keep});
    sweep.resume(sweep_rows(planned, {}, {.jobs = 2}));
    counts_.clear();
    sweep.run([this](const SweepCounts& counts) { counts_.push_back(counts); });
    return sweep.finish();
  }

  // One at a time, until a limit of time that comes when so many have ended and the next has begun.
  std::vector<Row> run_until_one_has_begun(const std::string& batches, std::size_t after) {
    const SweepPlan planned = plan(batches);
    const Say ignore = [](const std::string&) {};
    Sweep sweep(planned, {.folder = folder_ / "out", .sets = {}, .jobs = 1},
                {.info = ignore, .warning = ignore, .error = ignore});
    sweep.resume(sweep_rows(planned, {}, {.jobs = 1}));
    ask_to_stop(false);  // what ended before is of no limit
    sweep.run([after](const SweepCounts& counts) {
      if (counts.running > 0 && counts.done == after) ask_to_stop(true);
    });
    ask_to_stop(false);
    return sweep.finish();
  }

  std::vector<std::string> told_;
  std::vector<SweepCounts> counts_;
  fs::path folder_ =
      fs::temp_directory_path() / ("weft_sweep_unit_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Sweeps, count_every_point_from_none_to_all) {
  EXPECT_EQ(run("128, 256, 512").size(), 3U);
  ASSERT_EQ(counts_.size(), 1U + 2 * 3);  // at first; each begins and ends
  EXPECT_EQ(counts_.front().all, 3U);
  EXPECT_EQ(counts_.front().done, 0U);
  EXPECT_EQ(counts_.back().done, 3U);
  EXPECT_EQ(counts_.back().failed, 0U);
  EXPECT_EQ(counts_.back().running, 0U);
  EXPECT_TRUE(told_.empty());
}

TEST_F(Sweeps, run_only_what_their_folder_does_not_have) {
  run("128, 256");
  EXPECT_EQ(run("128, 256, 512").size(), 3U);
  EXPECT_EQ(told_, std::vector<std::string>{"2 of 3 points were already finished"});
  EXPECT_EQ(counts_.front().before, 2U);
  EXPECT_EQ(counts_.back().done, 3U);
}

TEST_F(Sweeps, end_the_first_point_at_a_limit_of_time_and_begin_nothing_new) {
  const std::vector<Row> rows = run_until_one_has_begun("128, 256", 0);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].outcome.ok) << rows[0].outcome.error;
}

// One has ended, so the same sweep comes further next time: the second is given up at once.
TEST_F(Sweeps, give_up_at_a_limit_of_time_what_they_have_begun_once_a_point_has_ended) {
  const std::vector<Row> rows = run_until_one_has_begun("128, 256, 512", 1);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(run("128, 256, 512").size(), 3U);
}

TEST_F(Sweeps, count_a_point_that_does_not_load_as_failed_from_the_start) {
  const std::vector<Row> rows = run("128, 0");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[1].outcome.ok);
  EXPECT_EQ(counts_.front().done, 1U);
  EXPECT_EQ(counts_.front().failed, 1U);
}

}  // namespace
}  // namespace weft::sweep_test
