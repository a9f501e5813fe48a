// What a scenario's times depend on: where physics says what that must be.
#include "sim/tune/sensitivity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "sim/tune/sensitivity_text.h"

namespace weft::sensitivity_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";

Sensitivity ask(const std::vector<std::string>& sets) {
  return sensitivity_of(kConfigs / "scenarios/embedding_a2a_2_nodes.yaml",
                        {.load = {.sets = sets, .config_dirs = {kConfigs}}, .jobs = 2});
}

double elasticity(const Sensitivity& found, const std::string& path, std::size_t mode) {
  for (const Elasticity& one : found.all) {
    if (one.number.path == path) return one.of_modes[mode];
  }
  ADD_FAILURE() << path;
  return 0;
}

// Fused, the HBM is at its bandwidth almost all the time and hides the links: a per cent more of
// the first is a per cent less time, of the second nothing. In bulk they take turns: the parts are
// what each takes, together the whole.
TEST(Sensitivity, of_what_bounds_a_mode_is_minus_1) {
  const Sensitivity found =
      ask({"modes=[bulk, fused]", "workload.batch=1024", "workload.tables_per_gpu=64"});
  ASSERT_EQ(found.modes, (std::vector<std::string>{"bulk", "fused"})) << found.problem;
  EXPECT_NEAR(elasticity(found, "cluster.gpu.memory.bandwidth", 1), -1, 0.05);
  EXPECT_NEAR(elasticity(found, "cluster.scale_out.link.bandwidth", 1), 0, 0.02);
  const double memory = elasticity(found, "cluster.gpu.memory.bandwidth", 0);
  EXPECT_LT(memory, -0.5);
  EXPECT_GT(memory, -0.85);
  EXPECT_LT(elasticity(found, "cluster.scale_out.link.bandwidth", 0), -0.05);
  EXPECT_EQ(found.all.front().number.path, "cluster.gpu.memory.bandwidth");
}

// A launch of 1.7 us at the start, once: its share of the time.
TEST(Sensitivity, of_a_latency_that_is_paid_once_is_its_share) {
  const Sensitivity found = ask({"modes=[fused]", "workload.batch=128", "workload.tables_per_gpu=4",
                                 "workload.rows_per_wg=8", "run.launch=queue"});
  ASSERT_EQ(found.modes.size(), 1U) << found.problem;
  const double share = 1.7 / found.time_us[0];
  EXPECT_NEAR(elasticity(found, "cluster.gpu.launch.queue", 0), share, share / 5);
}

TEST(Sensitivity, says_why_there_is_none) { EXPECT_NE(ask({"run.max_events=10"}).problem, ""); }

// Root of (0.5 x 20 %)^2 + (1 x 3 %)^2 = 10.4 %; a count is exact. Of the ratio only differences
// count: (0.5 - 0.1) x 20 %.
TEST(Sensitivity, adds_up_what_numbers_leave_open) {
  Sensitivity made;
  made.modes = {"bulk", "fused"};
  made.time_us = {10, 8};
  const auto add = [&](Sureness sureness, const char* type, std::vector<double> of_modes) {
    Elasticity one;
    one.number.sureness = sureness;
    one.number.type = counted_type(type);
    one.of_modes = std::move(of_modes);
    made.all.push_back(std::move(one));
  };
  add(Sureness::background, "duration", {0.1, 0.5});
  add(Sureness::measured, "bandwidth", {-1, -1});
  add(Sureness::background, "integer", {-3, -2});
  EXPECT_NEAR(spread_of_mode(made, 1), std::hypot(0.5 * 0.2, 0.03), 1e-12);
  EXPECT_NEAR(spread_of_mode(made, 1, 0), 0.4 * 0.2, 1e-12);
  const std::string text = text_of(made);
  EXPECT_NE(text.find("fused / bulk   0.800       +- 10.3 %"), std::string::npos) << text;
}

// Bandwidth 2 % and latency 4 % of one fit, correlated by -0.5: of elasticities -1 and 0.5 the
// variance is 4 + 4 + 2 x (-0.5) x (-2) x 2 = 12; without the correlation 8.
TEST(Sensitivity, carries_what_a_fit_says_of_its_numbers) {
  Sensitivity made;
  made.modes = {"bulk"};
  made.time_us = {10};
  const auto add = [&](const char* path, double spread, double of_mode) {
    Elasticity one;
    one.number.path = path;
    one.number.at.file = "gpu.yaml";
    one.number.sureness = Sureness::background;
    one.number.type = counted_type("duration");
    one.number.spread = Spread{.relative = spread};
    one.of_modes = {of_mode};
    made.all.push_back(std::move(one));
  };
  add("cluster.gpu.memory.bandwidth", 0.02, -1);
  add("cluster.gpu.memory.latency", 0.04, 0.5);
  EXPECT_NEAR(spread_of_mode(made, 0), std::sqrt(8.0) / 100, 1e-12);
  made.all[0].number.spread->with = {{"cluster.gpu.memory.latency", -0.5}};
  EXPECT_NEAR(spread_of_mode(made, 0), std::sqrt(12.0) / 100, 1e-12);
  made.all[1].number.at.file = "another.yaml";  // replaces the one that was fitted
  EXPECT_NEAR(spread_of_mode(made, 0), std::sqrt(8.0) / 100, 1e-12);
}

TEST(Sensitivity, tells_of_all_spreads_that_are_none_where_they_are) {
  const fs::path file =
      fs::temp_directory_path() / ("sensitivity_" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << "name: a\ncluster:\n  base: clusters/node_8x_h100\n  gpu:\n    memory:\n"
                         "      bandwidth: 3 TB/s  # +- 300 %\n      bend: 3  # +- x %\n"
                         "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n"
                         "modes: [bulk]\n";
  const Sensitivity found = sensitivity_of(file, {.load = {.sets = {}, .config_dirs = {kConfigs}}});
  fs::remove(file);
  ASSERT_EQ(found.wrong_comments.all().size(), 2U);
  for (const Diagnostic& wrong : found.wrong_comments.all()) {
    EXPECT_EQ(wrong.at.line, wrong.path == "cluster.gpu.memory.bend" ? 7 : 6);
    EXPECT_GT(wrong.at.column, 0);
    EXPECT_NE(wrong.source_line.find("+- "), std::string::npos);
  }
  EXPECT_EQ(found.exit_code, 1);
}

}  // namespace
}  // namespace weft::sensitivity_test
