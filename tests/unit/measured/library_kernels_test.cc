#include "sim/measured/library_kernels.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

namespace weft::library_kernels_test {
namespace {

MeasuredFile file_of(const std::string& text) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("weft_library_kernels_") +
       ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl");
  std::ofstream(file) << text << "\n";
  MeasuredFile measured = read_measured(file);
  std::filesystem::remove(file);
  return measured;
}

MeasuredLine line_of(const std::string& text) {
  const MeasuredFile measured = file_of(text);
  EXPECT_EQ(measured.problems.to_text(), "");
  return measured.lines.at(0);
}

std::vector<OpShape> kernels_of(const MeasuredLine& line) {
  Diagnostics problems;
  std::vector<OpShape> kernels = library_kernels(line, problems);
  EXPECT_EQ(problems.to_text(), "");
  return kernels;
}

TEST(LibraryKernels, a_line_of_several_frameworks_counts_their_median) {
  const MeasuredLine three = line_of(R"({"set": "gemm", "m": 1, "us": [9, 2, 4]})");
  EXPECT_EQ(three.us, 4);
  const MeasuredLine two = line_of(R"({"set": "gemm", "m": 1, "us": [9, null, 4]})");
  EXPECT_EQ(two.us, 6.5);
}

TEST(LibraryKernels, a_time_that_is_none_is_a_mistake) {
  for (const char* us : {"[null]", "[]", "[1, 0]", "\"9\"", "[\"9\"]", "null"}) {
    const std::string line = std::string(R"({"set": "gemm", "us": )") + us + "}";
    EXPECT_TRUE(file_of(line).problems.has_errors()) << us;
  }
}

TEST(LibraryKernels, a_gemm_is_a_gemm) {
  const MeasuredLine line = line_of(R"({"set": "gemm", "m": 2, "n": 3, "k": 5, "us": [9]})");
  EXPECT_EQ(line.kind, "library.gemm");
  const auto gemm = std::get<GemmShape>(kernels_of(line).at(0));
  EXPECT_EQ(gemm.m, 2);
  EXPECT_EQ(gemm.n, 3);
  EXPECT_EQ(gemm.k, 5);
}

TEST(LibraryKernels, of_fp8_say_what_has_a_scale) {
  const auto shape = std::get<GemmShape>(
      kernels_of(
          line_of(R"({"kind": "gemm_fp8", "m": 2, "n": 3, "k": 5, "scaling": "row", "us": 9})"))
          .at(0));
  EXPECT_EQ(shape.fp8, Fp8Scales::row);
  Diagnostics problems;
  library_kernels(line_of(R"({"kind": "gemm_fp8", "m": 2, "n": 3, "k": 5, "us": 9})"), problems);
  EXPECT_NE(problems.to_text().find("scaling: must be tensor, row or block"), std::string::npos);
}

TEST(LibraryKernels, a_grouped_gemm_has_the_tokens_of_each_expert) {
  const std::string line = R"({"kind": "grouped_gemm", "tokens": 96, "experts": 3, "n": 4, "k": 5,)"
                           R"( "us": 9, "dtype": "bf16")";
  const auto even = std::get<GemmShape>(kernels_of(line_of(line + "}")).at(0));
  EXPECT_TRUE(even.grouped);
  EXPECT_EQ(even.m, 32);
  EXPECT_EQ(even.batch, 3);
  EXPECT_TRUE(even.m_of_each.empty());
  const auto uneven =
      std::get<GemmShape>(kernels_of(line_of(line + R"(, "by_expert": "0 80 16"})")).at(0));
  EXPECT_EQ(uneven.m_of_each, (std::vector<std::int64_t>{0, 80, 16}));
}

// Gradients of 3 experts' weights: 4 x 5 of each, summed over its 32 tokens.
TEST(LibraryKernels, gradients_of_grouped_gemms_sum_over_tokens) {
  const auto shape = std::get<GemmShape>(
      kernels_of(line_of(R"({"kind": "grouped_gemm_weight_gradient", "tokens": 96, "experts": 3,)"
                         R"( "n": 4, "k": 5, "us": 9})"))
          .at(0));
  EXPECT_EQ(shape.m, 4);
  EXPECT_EQ(shape.n, 5);
  EXPECT_EQ(shape.k, 32);
  EXPECT_EQ(shape.batch, 3);
}

// 2 prompts of 100 tokens, 4 + 2 x 1 heads of 128: 2 x 100 x 6 x 128 x 2 B get their positions.
TEST(LibraryKernels, a_layer_of_prompts_has_two_kernels_before_attention) {
  const MeasuredLine line =
      line_of(R"({"set": "attention", "what": "context", "batch": 2, "heads": 4, "kv_heads": 1,)"
              R"( "isl": 100, "us": [9]})");
  const std::vector<OpShape> kernels = kernels_of(line);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(std::get<StreamShape>(kernels[1]).read, bytes(307'200));
  EXPECT_EQ(std::get<StreamShape>(kernels[1]).written, bytes(307'200));
  EXPECT_TRUE(std::get<AttentionShape>(kernels[2]).causal);
}

// One new token of each sequence looks at all before it and at itself.
TEST(LibraryKernels, a_layer_that_decodes_has_one_query_a_sequence) {
  const MeasuredLine line =
      line_of(R"({"set": "attention", "what": "generation", "batch": 2, "heads": 4,)"
              R"( "kv_heads": 1, "step": 99, "us": [9]})");
  const auto shape = std::get<AttentionShape>(kernels_of(line).at(2));
  EXPECT_EQ(shape.queries, 1);
  EXPECT_EQ(shape.keys, 100);
}

constexpr const char* kBoth =
    R"({"kind": "attention", "backend": "cudnn", "pass": "both", "batch": 1, "heads": 8,)"
    R"( "kv_heads": 2, "queries": 64, "keys": 64, "head_dim": 64, "causal": true, "us": 9})";

// Forward, row sums, backward, the queries' gradients, those of keys and of values.
TEST(LibraryKernels, a_line_of_both_passes_has_the_kernels_around_the_backward_one) {
  const std::vector<OpShape> kernels = kernels_of(line_of(kBoth));
  ASSERT_EQ(kernels.size(), 6U);
  EXPECT_TRUE(std::get<AttentionShape>(kernels[0]).causal);
  EXPECT_FALSE(std::get<AttentionShape>(kernels[0]).backward);
  EXPECT_TRUE(std::get<AttentionShape>(kernels[2]).backward);
}

std::string kind_of(const char* text) { return line_of(text).kind; }

// Lines of cuDNN's and of FlashAttention-2's attention, on GPUs that are described with either.
TEST(LibraryKernels, attention_is_of_the_library_that_the_gpu_is_described_with) {
  const std::string cudnn = kind_of(R"({"kind": "attention", "backend": "cudnn", "us": 9})");
  const std::string flash =
      kind_of(R"({"kind": "attention", "backend": "flash", "pass": "both", "us": 9})");
  const std::string decoding =
      kind_of(R"({"kind": "attention_decode", "backend": "flash", "us": 9})");
  EXPECT_EQ(flash, "library.flash_attention_both");
  GpuSpec gpu;
  EXPECT_TRUE(has_its_library(gpu, cudnn));
  EXPECT_FALSE(has_its_library(gpu, flash));
  EXPECT_FALSE(has_its_library(gpu, decoding));
  gpu.library_attention.emplace().flash_2.emplace();
  gpu.engine_attention.emplace().kernel = EngineKernel::flash_2;
  EXPECT_FALSE(has_its_library(gpu, cudnn));
  EXPECT_TRUE(has_its_library(gpu, flash));
  EXPECT_TRUE(has_its_library(gpu, decoding));
}

TEST(LibraryKernels, what_is_another_librarys_or_warm_is_not_taken_for_one) {
  EXPECT_FALSE(is_library_kernel(kind_of(R"({"kind": "attention", "backend": "math", "us": 9})")));
  EXPECT_FALSE(is_library_kernel(line_of(R"({"kind": "gemm", "cache": "warm", "us": 9})").kind));
}

TEST(LibraryKernels, what_a_line_lacks_is_named) {
  Diagnostics problems;
  static_cast<void>(library_kernels(line_of(R"({"set": "gemm", "m": 2, "us": [9]})"), problems));
  EXPECT_NE(problems.to_text().find("n: missing; library.gemm lines must have it"),
            std::string::npos)
      << problems.to_text();
}

}  // namespace
}  // namespace weft::library_kernels_test
