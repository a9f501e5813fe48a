#include "sim/measured/public_sets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/measured/cases.h"

namespace weft::public_sets_test {
namespace {

MeasuredLine line_of(const std::string& text) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("weft_public_sets_") +
       ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl");
  std::ofstream(file) << "{\"meta\": \"what all are\", \"us\": \"median\"}\n" << text << "\n";
  const MeasuredFile measured = read_measured(file);
  std::filesystem::remove(file);
  EXPECT_FALSE(measured.problems.has_errors()) << measured.problems.to_text();
  EXPECT_EQ(measured.lines.size(), 1U);
  return measured.lines.front();
}

TEST(PublicSets, a_line_of_nccl_is_a_collective_of_the_library_in_a_row) {
  const MeasuredLine line =
      line_of(R"({"set": "nccl", "system": "a100_sxm", "op": "alltoall", "gpus": 4,)"
              R"( "bytes": 512, "us": 9})");
  EXPECT_EQ(line.kind, "micro.nccl_alltoall");
  EXPECT_EQ(line.number("bytes_per_gpu"), 512);
  EXPECT_TRUE(line.says("timing", "in_a_row"));
  Diagnostics problems;
  const Case one = case_of(line, {}, problems);
  EXPECT_EQ(one.sets.front(), "cluster.gpus_per_node=4");
}

TEST(PublicSets, an_engines_all_reduce_is_a_scenario_of_its_own) {
  const MeasuredLine line =
      line_of(R"({"set": "engine", "op": "all_reduce", "gpus": 8, "bytes": 512, "us": 5})");
  EXPECT_EQ(line.kind, "engine.all_reduce");
  Diagnostics problems;
  EXPECT_EQ(case_of(line, {}, problems).scenario, "validation/all_reduce_engine");
  EXPECT_FALSE(has_case(line_of(R"({"set": "engine", "op": "all_gather", "us": 5})").kind));
}

TEST(PublicSets, a_line_between_nodes_sets_nodes_and_the_gpus_of_each) {
  const MeasuredLine line = line_of(
      R"({"set": "multi", "op": "all_reduce", "nodes": 4, "gpus": 32, "bytes": 512, "us": 9})");
  Diagnostics problems;
  const Case one = case_of(line, {}, problems);
  EXPECT_EQ(one.sets.at(0), "cluster.nodes=4");
  EXPECT_EQ(one.sets.at(1), "cluster.gpus_per_node=8");
  EXPECT_FALSE(problems.has_errors());
}

TEST(PublicSets, gpus_that_do_not_fill_the_nodes_are_a_mistake) {
  const MeasuredLine line = line_of(
      R"({"set": "multi", "op": "all_reduce", "nodes": 3, "gpus": 32, "bytes": 512, "us": 9})");
  Diagnostics problems;
  case_of(line, {}, problems);
  EXPECT_TRUE(problems.has_errors());
}

TEST(PublicSets, a_set_that_is_not_known_has_no_case) {
  EXPECT_FALSE(has_case(line_of(R"({"set": "attention", "us": 9})").kind));
  EXPECT_FALSE(has_case(line_of(R"({"set": "nccl", "op": "scan", "us": 9})").kind));
}

TEST(PublicSets, a_line_is_of_the_gpu_that_its_system_begins_with) {
  const MeasuredLine line = line_of(R"({"set": "nccl", "system": "b200_sxm", "us": 9})");
  EXPECT_TRUE(is_of_gpu(line, "B200"));
  EXPECT_FALSE(is_of_gpu(line, "GB200"));
  EXPECT_FALSE(is_of_gpu(line, "A100"));
  EXPECT_TRUE(is_of_gpu(line_of(R"({"set": "nccl", "us": 9})"), "A100"));
}

}  // namespace
}  // namespace weft::public_sets_test
