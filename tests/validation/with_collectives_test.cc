// The library's GEMMs concurrent with NCCL's collectives, and training steps with and without DDP's
// sums, on two H100 (calibration/pytorch/with_collectives.py). Nothing is fitted to these lines.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/measured/errors.h"
#include "sim/measured/predict.h"
#include "sim/models/build_model.h"
#include "sim/models/run_model.h"
#include "sim/scenario/load.h"

namespace weft::with_collectives_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kSource = WEFT_SOURCE_DIR;
const fs::path kMeasured =
    kSource / "calibration/measurements/h100-x2-pytorch-with_collectives.jsonl";

std::map<std::string, ErrorSummary> errors_by_kind(const std::vector<std::string>& sets) {
  const MeasuredFile file = read_measured(kMeasured);
  EXPECT_FALSE(file.problems.has_errors()) << file.problems.to_text();
  const Predictions predictions =
      predict(file.lines, {.cluster = kSource / "configs/clusters/node_8x_h100.yaml",
                           .config_dirs = {kSource / "configs"},
                           .kernels = kSource / "calibration/kernels",
                           .sets = sets,
                           .jobs = 2,
                           .on_progress = {}});
  EXPECT_FALSE(predictions.problems.has_errors()) << predictions.problems.to_text();
  std::map<std::string, ErrorSummary> found;
  for (const ErrorSummary& of : report_errors(predictions.outcomes).by_kind) found[of.of] = of;
  return found;
}

// The GEMM first: it holds all SMs, so the collective comes after it. The collective first, with as
// many channels as NCCL takes or as it was told to: both run at once.
TEST(WithCollectives, both_at_once_take_as_long_as_measured) {
  const auto found = errors_by_kind({});
  for (const char* kind : {"c3.base", "c3.comm_first", "c3.partition"}) {
    const ErrorSummary& error = found.at(kind);
    std::printf("%s: %zu lines, median %.1f %%, 90 %% within %.1f %%\n", kind, error.cases,
                error.median * 100, error.p90 * 100);
    EXPECT_GE(error.cases, 30U);
    EXPECT_LT(error.median, 0.05);
    EXPECT_LT(error.p90, 0.15);
  }
}

// Channels are bound by the clock of their SMs, which the GEMM holds down: 1,580 of 1,980 MHz.
TEST(WithCollectives, channels_have_the_clock_of_the_gemm_beside_them) {
  const double with = errors_by_kind({}).at("c3.partition").bias;
  const double without = errors_by_kind({"cluster.gpu.power.gemm_clock=1"}).at("c3.partition").bias;
  EXPECT_LT(std::abs(with), std::abs(without) - 0.02);
}

std::string step(const Json& line, int copies) {
  const std::string gpus = std::to_string(copies);
  return "name: step\nmodes: [bulk]\ncluster: {base: clusters/node_8x_h100, gpus_per_node: " +
         gpus +
         "}\nrun: {clocks: burst}\nworkload:\n  kind: transformer\n  phase: training\n"
         "  gradient_dtype: bf16\n  gradient_scaling: kernel\n  gradient_bucket: " +
         line.at("bucket_mib").dump() +
         " MiB\n  model: {hidden: 4096, heads: 32, kv_heads: 8, head_dim: 128, inner: 14336, "
         "gated: true, vocabulary: 1024, layers: " +
         line.at("layers").dump() + "}\n  sequences: " + gpus +
         "\n  microbatch: 1\n  sequence_length: " + line.at("tokens").dump() +
         "\n  parallel: {data: " + gpus + "}\n";
}

// Without the optimiser, which was not measured.
double step_us(const std::string& text) {
  const Loaded loaded =
      load_scenario_text(text, "step.yaml", {.sets = {}, .config_dirs = {kSource / "configs"}});
  EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
  if (!loaded.scenario) return 0;
  const Cluster cluster = build_cluster(loaded.scenario->cluster);
  const ModelGraph graph = build_model(*loaded.scenario);
  const RunResult result = ModelRun(*loaded.scenario, cluster, graph).run(Mode::bulk, {});
  Duration optimizer;
  for (const PartUse& part : result.parts) {
    if (part.name == "optimizer") optimizer = part.computing;  // of all GPUs
  }
  return to_microseconds(result.time) - to_microseconds(optimizer) / cluster.gpus();
}

// DDP divides each gradient by the number of copies, a kernel per layer's tensor, and sums buckets
// while the backward pass goes on.
TEST(WithCollectives, sums_of_gradients_add_to_a_step_what_was_measured) {
  std::ifstream file(kMeasured);
  double apart = 0;
  int steps = 0;
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text);
    if (line.at("kind") != "ddp_step") continue;
    const double us = line.at("us").get<double>();
    if (!line.at("sums").get<bool>()) {
      apart = us;
      continue;
    }
    const double predicted = step_us(step(line, 2)) - step_us(step(line, 1));
    std::printf("%s layers, %s tokens, %s MiB: sums add %.0f us to %.0f, predicted %.0f\n",
                line.at("layers").dump().c_str(), line.at("tokens").dump().c_str(),
                line.at("bucket_mib").dump().c_str(), us - apart, apart, predicted);
    EXPECT_NEAR(predicted / us, (us - apart) / us, 0.035);
    ++steps;
  }
  EXPECT_EQ(steps, 7);
}

}  // namespace
}  // namespace weft::with_collectives_test
