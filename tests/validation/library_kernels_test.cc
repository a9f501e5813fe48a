// Kernels of GPUs' libraries, simulated WG by WG as whole models run them, against measurements as
// `weft validate` reads them: public ones (ai-dynamo/aiconfigurator: GEMMs and layers of attention
// of three frameworks in CUDA graphs) and PyTorch's attention on an H200. GEMMs' constants were
// fitted on the shapes of even hash; both halves are held to the same bounds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/measured/errors.h"
#include "sim/measured/predict.h"
#include "sim/models/split_keys.h"

namespace weft::library_kernels_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = WEFT_SOURCE_DIR;

fs::path public_kernels() {
  const char* given = std::getenv("WEFT_PUBLIC_TRUTH");
  const fs::path folder =
      given != nullptr ? fs::path(given) : kRoot.parent_path() / "shared" / "truth" / "public";
  return folder / "kernels.jsonl";
}

std::vector<MeasuredLine> lines_of(const fs::path& file) {
  MeasuredFile measured = read_measured(file);
  EXPECT_EQ(measured.problems.to_text(), "");
  return std::move(measured.lines);
}

// By kind of line, and printed.
std::map<std::string, ErrorSummary> errors_of(const std::vector<MeasuredLine>& lines,
                                              const std::string& cluster,
                                              const std::vector<std::string>& sets = {}) {
  const Predictions predictions =
      predict(lines, {.cluster = kRoot / "configs/clusters" / (cluster + ".yaml"),
                      .config_dirs = {kRoot / "configs"},
                      .kernels = {},
                      .sets = sets,
                      .on_progress = {}});
  EXPECT_EQ(predictions.problems.to_text(), "");
  std::map<std::string, ErrorSummary> errors;
  for (const ErrorSummary& kind : report_errors(predictions.outcomes).by_kind) {
    std::printf("%s, %s: %zu lines, median %.1f %%, 90 %% within %.1f %%\n", cluster.c_str(),
                kind.of.c_str(), kind.cases, kind.median * 100, kind.p90 * 100);
    errors[kind.of] = kind;
  }
  return errors;
}

struct Bound {
  const char* kind;
  std::size_t cases;
  double median;
  double p90;
};

void expect_within(std::map<std::string, ErrorSummary> errors, std::initializer_list<Bound> of) {
  for (const Bound& bound : of) {
    const ErrorSummary& kind = errors[bound.kind];
    EXPECT_EQ(kind.cases, bound.cases) << bound.kind;
    EXPECT_LT(kind.median, bound.median) << bound.kind;
    EXPECT_LT(kind.p90, bound.p90) << bound.kind;
  }
}

class PublicKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(public_kernels())) GTEST_SKIP() << public_kernels() << " is not here";
  }
};

TEST_F(PublicKernels, of_h100_take_what_was_measured) {
  expect_within(errors_of(lines_of(public_kernels()), "node_8x_h100"),
                {{"library.gemm", 832, 0.08, 0.2},
                 {"library.prompt_layer", 137, 0.1, 0.2},
                 {"library.decoding_layer", 113, 0.1, 0.2}});
}

// Frameworks decode with kernels of their own, up to three times apart on A100: medians of three
// are held to less than lines of the one whose kernel it has (half of these were fitted).
TEST_F(PublicKernels, of_a100_take_what_was_measured) {
  expect_within(errors_of(lines_of(public_kernels()), "node_8x_a100"),
                {{"library.gemm", 832, 0.08, 0.2},
                 {"library.prompt_layer", 137, 0.1, 0.2},
                 {"library.decoding_layer", 113, 0.1, 0.25}});
}

// The same lines with the time of one framework instead of all.
fs::path lines_of_framework(std::size_t which) {
  fs::path file = fs::temp_directory_path() / ("weft_engine_" + std::to_string(::getpid()));
  std::ifstream in(public_kernels());
  std::ofstream out(file);
  for (std::string line; std::getline(in, line);) {
    nlohmann::json measured = nlohmann::json::parse(line);
    if (measured.value("what", "") != "generation") continue;
    const nlohmann::json time = measured["us"].at(which);
    if (time.is_null()) continue;
    measured["us"] = time;
    out << measured.dump() << "\n";
  }
  return file;
}

TEST_F(PublicKernels, of_a100_decode_as_vllm) {
  const fs::path file = lines_of_framework(1);
  expect_within(errors_of(lines_of(file), "node_8x_a100"),
                {{"library.decoding_layer", 70, 0.06, 0.15}});
  fs::remove(file);
}

// Constants are from the first file; the second has other shapes.
TEST(OwnKernels, attention_of_h200_takes_what_was_measured) {
  const fs::path folder = kRoot / "calibration/measurements";
  expect_within(errors_of(lines_of(folder / "h200-pytorch-attention.jsonl"), "node_8x_h200"),
                {{"library.attention", 56, 0.1, 0.2},
                 {"library.attention_both", 56, 0.1, 0.2},
                 {"library.decoding", 20, 0.1, 0.2}});
  expect_within(errors_of(lines_of(folder / "h200-pytorch-attention-2.jsonl"), "node_8x_h200"),
                {{"library.attention", 56, 0.1, 0.2},
                 {"library.attention_both", 56, 0.1, 0.2},
                 {"library.decoding", 80, 0.1, 0.2}});
}

// PyTorch's FlashAttention-2, the preset read off the first file; its rule for the number of parts
// is FlashAttention's own.
TEST(OwnKernels, flash_decoding_of_h200_takes_what_was_measured) {
  for (const char* name : {"h200-pytorch-attention.jsonl", "h200-pytorch-attention-2.jsonl"}) {
    expect_within(errors_of(lines_of(kRoot / "calibration/measurements" / name), "node_8x_h200",
                            {"cluster.gpu.engine_attention={base: kernels/decoding_flash_2_h200}"}),
                  {{"library.flash_decoding", 80, 0.08, 0.2}});
  }
}

// Grids in profiles of the same lines; two WGs on each of 132 SMs.
TEST(OwnKernels, flash_decoding_of_h200_splits_as_in_profiles) {
  int seen = 0;
  int split = 0;
  for (const char* name : {"h200-pytorch-attention.jsonl", "h200-pytorch-attention-2.jsonl"}) {
    std::ifstream in(kRoot / "calibration/measurements" / name);
    for (std::string text; std::getline(in, text);) {
      const nlohmann::json line = nlohmann::json::parse(text);
      if (line.value("kind", "") != "attention_decode" || line["backend"] != "flash") continue;
      const nlohmann::json& kernel = line["kernels"][0];
      const bool splits = kernel[0].get<std::string>().find("splitkv") != std::string::npos;
      const std::int64_t block = line["head_dim"] <= 64 ? 256 : 128;
      const std::int64_t keys = line["keys"];
      const FlashWork work{line["batch"], line["kv_heads"], (keys + block - 1) / block};
      EXPECT_EQ(flash_parts(EngineKernel::flash_2, work, 132),
                splits ? kernel[1][1].get<std::int64_t>() : 1)
          << text;
      ++seen;
      split += splits ? 1 : 0;
    }
  }
  EXPECT_EQ(seen, 160);
  EXPECT_EQ(split, 127);
}

// Constants are from half of these lines. Two fp8 GEMMs of few rows, which cuBLAS splits by k, come
// out twice as long.
TEST(OwnKernels, low_precision_and_grouped_gemms_of_h200_take_what_was_measured) {
  const fs::path folder = kRoot / "calibration/measurements";
  expect_within(errors_of(lines_of(folder / "h200-pytorch-low_precision.jsonl"), "node_8x_h200"),
                {{"library.gemm_fp8", 66, 0.08, 0.2},
                 {"library.grouped_gemm", 56, 0.08, 0.2},
                 {"library.grouped_gradient", 15, 0.1, 0.2}});
}

// Whole stages of k: not fitted.
TEST(OwnKernels, grouped_gemms_of_short_k_take_what_was_measured) {
  const fs::path folder = kRoot / "calibration/measurements";
  expect_within(
      errors_of(lines_of(folder / "h100-pytorch-short_k.jsonl"), "node_8x_h100"),
      {{"library.grouped_gemm", 42, 0.05, 0.1}, {"library.grouped_gradient", 42, 0.05, 0.12}});
}

const std::vector<std::string> kFlash2{
    "cluster.gpu.library_attention={base: kernels/attention_flash_2_h200}"};

// Its prompts were read off a grid of lengths on an H100, the same chip; its backward pass off the
// first file.
TEST(OwnKernels, flash_attention_2_of_h200_takes_what_was_measured) {
  const fs::path folder = kRoot / "calibration/measurements";
  for (const char* name : {"h200-pytorch-attention.jsonl", "h200-pytorch-attention-2.jsonl"}) {
    expect_within(errors_of(lines_of(folder / name), "node_8x_h200", kFlash2),
                  {{"library.flash_attention", 56, 0.06, 0.18},
                   {"library.flash_attention_both", 56, 0.06, 0.15}});
  }
  expect_within(errors_of(lines_of(folder / "h100-pytorch-flash.jsonl"), "node_8x_h100", kFlash2),
                {{"library.flash_attention", 524, 0.05, 0.12}});
}

// Also those whose rows are no multiple of 16 B, which older kernels take. Constants were fitted to
// the first two files.
TEST(OwnKernels, gemms_take_what_was_measured) {
  const fs::path folder = kRoot / "calibration/measurements";
  for (const char* name : {"h200-pytorch-gemm.jsonl", "h200-pytorch-gemm-2.jsonl"}) {
    expect_within(errors_of(lines_of(folder / name), "node_8x_h200"),
                  {{"library.gemm", 256, 0.06, 0.18}});
  }
  expect_within(errors_of(lines_of(folder / "h200-pytorch-gemm-3.jsonl"), "node_8x_h200"),
                {{"library.gemm", 1024, 0.06, 0.18}});
  expect_within(errors_of(lines_of(folder / "h100-pytorch-gemm.jsonl"), "node_8x_h100"),
                {{"library.gemm", 768, 0.06, 0.18}});
}

}  // namespace
}  // namespace weft::library_kernels_test
