#include "sim/measured/torch_pairs.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/measured/cases.h"

namespace weft::torch_pairs_test {
namespace {

MeasuredLine line_of(const std::string& kind, const std::string& by) {
  MeasuredLine line;
  line.kind = kind;
  line.us = 1;
  line.words = {{"by", by}, {"model", "llama-8b"}};
  line.numbers = {{"gpus", 2}, {"m", 512}, {"n", 3072}, {"k", 4096}, {"runs", 7}};
  return line;
}

MeasuredLine named(const std::string& kind, const std::string& by) {
  MeasuredLine line = line_of(kind, by);
  EXPECT_TRUE(name_torch_pair(line));
  return line;
}

TorchPair pair_of(const std::string& kind, const std::string& by) {
  Diagnostics problems;
  TorchPair pair = torch_pair(named(kind, by), problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return pair;
}

TEST(TorchPairs, are_named_by_operator_and_way) {
  EXPECT_EQ(named("ag_gemm", "pytorch").kind, "torch.ag_gemm.pytorch");
  EXPECT_TRUE(has_case("torch.ag_gemm.pytorch"));
  EXPECT_FALSE(has_case(named("gemm", "chunked_2").kind));
  MeasuredLine other = line_of("gemm", "bulk");
  other.words.erase("by");
  EXPECT_FALSE(name_torch_pair(other));
  EXPECT_EQ(other.kind, "gemm");
}

TEST(TorchPairs, of_pytorch_are_compared_with_bulk) {
  EXPECT_EQ(bulk_kind_of("torch.gemm_rs.pytorch"), "torch.gemm_rs.bulk");
  EXPECT_EQ(bulk_kind_of("torch.gemm_rs.comm"), "");
  EXPECT_EQ(compared_text(named("ag_gemm", "pytorch")), compared_text(named("ag_gemm", "bulk")));
}

TEST(TorchPairs, have_the_gemm_and_the_collective_in_their_order) {
  const TorchPair gathers = pair_of("ag_gemm", "pytorch");
  EXPECT_EQ(gathers.mode, Mode::pipelined);
  ASSERT_EQ(gathers.graph.ops.size(), 2U);
  // All of A, m x k elements of 2 B, is gathered.
  EXPECT_EQ(std::get<CommunicationShape>(gathers.graph.ops[OpId(0)].shape).buffer.count(),
            512 * 4096 * 2);
  const TorchPair scatters = pair_of("gemm_rs", "bulk");
  EXPECT_EQ(scatters.mode, Mode::bulk);
  // All of C, m x n, is summed.
  EXPECT_EQ(std::get<CommunicationShape>(scatters.graph.ops[OpId(1)].shape).buffer.count(),
            512 * 3072 * 2);
  EXPECT_EQ(pair_of("gemm_rs", "compute").graph.ops.size(), 1U);
}

TEST(TorchPairs, say_what_a_line_lacks) {
  MeasuredLine line = named("gemm_rs", "bulk");
  line.numbers.erase("k");
  Diagnostics problems;
  torch_pair(line, problems);
  EXPECT_NE(problems.to_text().find("torch.gemm_rs.bulk lines must have it"), std::string::npos)
      << problems.to_text();
}

}  // namespace
}  // namespace weft::torch_pairs_test
