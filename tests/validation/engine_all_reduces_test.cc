// All-reduces of vLLM within nodes of four GPUs (calibration/measurements/vllm-all-reduce.jsonl).
// Constants are from the lines of 2 and 4 GPUs: one_shot and two_shot on 8 are predicted. Those by
// the switch are all of 8 GPUs; its constants are from every second size, the others are predicted.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/measured/errors.h"
#include "sim/measured/predict.h"

namespace weft::engine_all_reduces_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = WEFT_SOURCE_DIR;

bool is_predicted(const MeasuredLine& line) {
  const bool by_switch = line.says("kernel", "in_switch");
  if (line.number("gpus") != 8) return by_switch;
  if (!by_switch) return true;
  const std::int64_t size = line.number("bytes_per_gpu").value_or(1);
  int doublings = 0;
  while ((std::int64_t{1} << doublings) < size) ++doublings;
  return doublings % 2 == 0;  // 256 KiB, 1 MiB ...
}

ErrorSummary errors_of(const std::vector<Outcome>& outcomes, const std::string& of) {
  const ErrorSummary all = report_errors(outcomes).by_kind.back();
  std::printf("%s: %zu lines, median %.1f %%, 90 %% within %.1f %%, worst %+.1f %%\n", of.c_str(),
              all.cases, all.median * 100, all.p90 * 100, all.worst * 100);
  return all;
}

// One of H100's lines (8 KiB on 8 GPUs: 11.1 us) is twice as long as its neighbours.
TEST(EngineAllReduces, of_vllm_are_within_a_few_per_cent) {
  const MeasuredFile file = read_measured(kRoot / "calibration/measurements/vllm-all-reduce.jsonl");
  ASSERT_EQ(file.problems.to_text(), "");
  for (const std::string gpu : {"a100", "h100", "h200", "b200"}) {
    const Predictions predictions =
        predict(file.lines, {.cluster = kRoot / "configs/clusters" / ("node_8x_" + gpu + ".yaml"),
                             .config_dirs = {kRoot / "configs"},
                             .kernels = {},
                             .sets = {},
                             .on_progress = {}});
    ASSERT_EQ(predictions.problems.to_text(), "");
    std::vector<Outcome> fitted;
    std::vector<Outcome> predicted;
    for (const Outcome& outcome : predictions.outcomes) {
      (is_predicted(outcome.line) ? predicted : fitted).push_back(outcome);
    }
    const ErrorSummary of_fitted = errors_of(fitted, gpu + ", fitted");
    const ErrorSummary of_predicted = errors_of(predicted, gpu + ", predicted");
    EXPECT_GE(of_fitted.cases, 28U);
    EXPECT_LT(of_fitted.median, 0.05);
    EXPECT_LT(of_fitted.p90, 0.13);
    EXPECT_GE(of_predicted.cases, 14U);
    EXPECT_LT(of_predicted.median, 0.08);
    EXPECT_LT(of_predicted.p90, 0.17);
  }
}

}  // namespace
}  // namespace weft::engine_all_reduces_test
