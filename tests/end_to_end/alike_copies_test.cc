// Runs in which some copies of a model stand for all: what is written is of all of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/end_to_end/program.h"
#include "tests/unit/traces/chakra_writer.h"

namespace weft::alike_copies_end_to_end_test {
namespace {

using Json = nlohmann::json;

// Two stages of eight nodes, a node a leaf: two nodes of each stand for eight.
constexpr const char* kScenario = R"(
name: copies
cluster: {base: clusters/nodes_16x_8x_h100, scale_out: {endpoints_per_leaf: 8}}
workload:
  kind: transformer
  phase: training
  model: {layers: 2, hidden: 1024, heads: 16, kv_heads: 8, inner: 4096, vocabulary: 4096}
  sequence_length: 1024
  microbatch: 1
  sequences: 16
  parallel: {tensor: 8, pipeline: 2, data: 8, sharded_optimizer: true}
modes: [bulk]
)";

class AlikeCopies : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write("copies.yaml", kScenario); }
  [[nodiscard]] Json run(const std::string& how, const std::string& results) const {
    const Ended ended = weft_in(folder_.path(""), "run copies.yaml -q -o " + results + how);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(text_of(folder_.path(results + "/summary.json")));
  }
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& file) const {
    std::vector<std::vector<std::string>> all;
    std::istringstream lines(text_of(folder_.path(file)));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      all.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) all.back().push_back(cell);
    }
    return all;
  }

  TraceFolder folder_{"alike_copies"};
};

TEST_F(AlikeCopies, are_reported_as_all_of_them) {
  const Json some = run("", "some");
  const Json all = run(" --set run.repeats=blocks", "all");
  EXPECT_EQ(some["engine"]["simulated_gpus"], 32);
  EXPECT_EQ(all["engine"]["simulated_gpus"], 128);
  const double time = all["modes"]["bulk"]["time_us"];
  EXPECT_NEAR(some["modes"]["bulk"]["time_us"], time, 1e-4 * time);
  EXPECT_EQ(some["ledger"]["bulk"]["messages"], all["ledger"]["bulk"]["messages"]);
  const auto links = rows("some/links.csv");
  ASSERT_EQ(links.size(), rows("all/links.csv").size());
  const auto over_time = rows("some/over_time.csv");
  const auto expected = rows("all/over_time.csv");
  ASSERT_EQ(over_time.size(), expected.size());
  for (std::size_t i = 1; i < expected.size(); ++i) {
    for (std::size_t column = 3; column < expected[i].size(); ++column) {  // shares
      EXPECT_NEAR(std::stod(over_time[i][column]), std::stod(expected[i][column]), 0.01) << i;
    }
  }
}

TEST_F(AlikeCopies, are_all_simulated_for_a_timeline) {
  EXPECT_EQ(run(" --trace t.json.gz", "traced")["engine"]["simulated_gpus"], 128);
}

// Each piece needs 10 MiB; that sums over slow NICs outlast their layers, so that a stage's last
// backward pass is one piece of 21 MiB, is known only when it runs.
TEST_F(AlikeCopies, say_what_they_need_where_memory_is_too_small_for_what_runs_together) {
  const std::string slow =
      " --set workload.model.layers=16 --set 'cluster.nic.bandwidth=20 Gb/s' --set run.max_memory=";
  const Ended refused = weft_in(folder_.path(""), "run copies.yaml -q" + slow + "'14 MiB'");
  EXPECT_EQ(refused.status, 1) << refused.err;
  EXPECT_TRUE(refused.says("these have to be simulated together")) << refused.err;
  EXPECT_EQ(run(slow + "'1 GiB'", "allowed")["engine"]["simulated_gpus"], 32);
}

}  // namespace
}  // namespace weft::alike_copies_end_to_end_test
