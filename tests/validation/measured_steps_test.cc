// Training steps of a small Llama on two and four H100 (calibration/pytorch/steps.py), in the ways
// that PyTorch has of sharing them, against the same as weft's models. No constant is fitted to
// them.
//
// The step has no embedding and no head, the model a vocabulary of one. Steps of up to 50 ms were
// measured two at a time after a pause, which the clock of short kernels outlasts; those of a
// pipeline take 0.2 to 0.4 s, after which it has fallen to what the power limit leaves. Kernels
// between the products are compiled ones in weft; lines without torch.compile, the only ones that
// ZB-V and DualPipeV have, are compared with one another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "sim/report/time_range.h"
#include "sim/run/scenario_run.h"
#include "sim/scenario/load.h"

namespace weft::measured_steps_test {
namespace {

using Json = nlohmann::json;

int gpus_of(const Json& line) {
  const std::string way = line["way"];
  return way == "one" || way == "fp8" ? 1 : line["gpus"].get<int>();
}

bool has_experts(const Json& line) { return line.contains("experts"); }

int copies_in(const Json& line) {
  const std::string way = line["way"];
  if (way == "shared_pipeline") return 2;
  return way == "ddp" || way == "fsdp" || has_experts(line) ? gpus_of(line) : 1;
}

std::string parallel_of(const Json& line) {
  const std::string way = line["way"];
  const int gpus = gpus_of(line);
  const int copies = copies_in(line);
  if (way == "tensor") return fmt::format("{{tensor: {}, sequence: true}}", gpus);
  std::string text = fmt::format("{{data: {}", copies);
  if (has_experts(line)) text += fmt::format(", expert: {}", gpus);
  if (line.contains("reshard_after_forward")) {
    text += ", shard: parameters, reshard_after_forward: " + line["reshard_after_forward"].dump();
  }
  if (!line.contains("schedule")) return text + "}";
  const std::string schedule = line["schedule"];
  text += fmt::format(", pipeline: {}, schedule: {}", gpus / copies, schedule);
  if (schedule != "gpipe" && schedule != "1f1b") text += ", sends: in_turns";
  if (schedule == "interleaved") text += ", virtual_stages: " + line["virtual_stages"].dump();
  return text + "}";
}

// How often each expert is used by all ranks together.
std::string experts_of(const Json& line) {
  if (!has_experts(line)) return ", inner: " + line["inner"].dump() + "}";
  std::vector<int> used(line["routing"][0].size(), 0);
  for (const Json& rank : line["routing"]) {
    for (std::size_t i = 0; i < used.size(); ++i) used[i] += rank[i].get<int>();
  }
  const bool grouped = line["way"] == "grouped_experts";
  return fmt::format(
      "}}, moe: {{experts: {}, top_k: {}, inner: {}, {}, router: histogram, histogram: {}}}",
      line["experts"].dump(), line["top_k"].dump(), line["inner"].dump(),
      grouped ? "kernel: grouped, permutation: scatter" : "kernel: each, permutation: index",
      Json(used).dump());
}

std::string scenario_of(const Json& line) {
  const std::string way = line["way"];
  const int microbatches = line.value("microbatches", 1);
  std::string more;
  if (way == "ddp") {  // which divides gradients by the number of copies, in a kernel of its own
    more = ", gradient_scaling: kernel, gradient_bucket: " + line["bucket_mib"].dump() + " MiB";
  }
  if (way == "fp8") more = ", fp8: " + line["scaling"].get<std::string>();
  return fmt::format(
      "name: step\n"
      "cluster: {{base: clusters/node_8x_h100, gpus_per_node: {}, gpu: {{collective: "
      "{{algorithms: [ring, tree]}}}}}}\n"  // NCCL there had no multicast
      "workload: {{kind: {}, phase: training, model: {{vocabulary: 1, layers: {}, hidden: {}, "
      "heads: "
      "{}, kv_heads: {}{}, sequence_length: {}, sequences: {}, microbatch: 1, parallel: {}, "
      "gradient_dtype: bf16, optimizer_dtype: bf16{}}}\n"
      "modes: [bulk]\nrun: {{clocks: sustained, steps_between_pauses: 2}}\n",
      gpus_of(line), has_experts(line) ? "moe" : "transformer", line["layers"].dump(),
      line["hidden"].dump(), line["heads"].dump(), line["kv_heads"].dump(), experts_of(line),
      line["tokens"].dump(), microbatches * copies_in(line), parallel_of(line), more);
}

struct Simulated {
  double us = 0;
  TimeRange range;
};

Simulated simulated(const Json& line) {
  const Loaded loaded = load_scenario_text(
      scenario_of(line), "step.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  EXPECT_EQ(loaded.problems.to_text(), "");
  ScenarioRun run(loaded);
  const auto outcome = run.run("");
  const auto& report = std::get<RunReport>(outcome);
  const RunResult& result = report.runs.front().result;
  return {.us = to_microseconds(result.time),
          .range = range_of(result, *report.cluster.spec.gpu.errors)};
}

struct Step {
  Json line;
  double measured = 0;
  double simulated = 0;
  TimeRange range;
  [[nodiscard]] double error() const { return simulated / measured - 1; }
  [[nodiscard]] std::string name() const {
    std::string text = fmt::format("{} gpus {}", line["way"].get<std::string>(), gpus_of(line));
    for (const char* key : {"experts", "schedule", "virtual_stages", "microbatches", "tokens",
                            "bucket_mib", "reshard_after_forward", "scaling", "compiled"}) {
      if (line.contains(key)) text += fmt::format(" {} {}", key, line[key].dump());
    }
    return text;
  }
};

Step compared(const Json& line) {
  const Simulated now = simulated(line);
  Step step{.line = line, .measured = line["us"], .simulated = now.us, .range = now.range};
  std::cout << fmt::format(
      "{}: {:.1f} us measured, {:.1f} simulated ({:.1f} to {:.1f}), {:+.1f} %\n", step.name(),
      step.measured, step.simulated, step.range.low_us, step.range.high_us, step.error() * 100);
  return step;
}

const std::vector<Step>& steps() {
  static const std::vector<Step> all = [] {
    std::vector<Step> found;
    for (const char* name : {"h100-x2", "h100-x4"}) {
      std::ifstream file(
          fmt::format("{}/calibration/measurements/steps/{}.jsonl", WEFT_SOURCE_DIR, name));
      for (std::string text; std::getline(file, text);) {
        const Json line = Json::parse(text);
        if (line["kind"] == "step") found.push_back(compared(line));
      }
    }
    return found;
  }();
  return all;
}

std::vector<double> errors_of(const std::string& way, int gpus) {
  std::vector<double> errors;
  for (const Step& step : steps()) {
    const bool is_asked = step.line["way"] == way && gpus_of(step.line) == gpus;
    if (is_asked && step.line["compiled"]) errors.push_back(std::abs(step.error()));
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_FALSE(errors.empty()) << way;
  return errors;
}

double time_of(const std::string& schedule, int virtual_stages, int microbatches, bool compiled,
               double Step::*of, int gpus = 2) {
  for (const Step& step : steps()) {
    const Json& line = step.line;
    if (line["way"] == "pipeline" && gpus_of(line) == gpus && line["schedule"] == schedule &&
        line["virtual_stages"] == virtual_stages && line["microbatches"] == microbatches &&
        line["compiled"] == compiled) {
      return step.*of;
    }
  }
  ADD_FAILURE() << schedule;
  return 0;
}

TEST(MeasuredSteps, of_one_gpu_and_of_sharded_parameters_are_within_5_percent) {
  EXPECT_LT(errors_of("one", 1).back(), 0.03);
  EXPECT_LT(errors_of("fsdp", 2).back(), 0.045);
  EXPECT_LT(errors_of("fsdp", 4).back(), 0.06);
}

// Those of torchtitan's kind were predicted before they were looked at, but for one kernel's rate.
TEST(MeasuredSteps, of_experts_with_uneven_tokens_are_within_9_percent) {
  EXPECT_LT(errors_of("experts", 2).back(), 0.06);
  EXPECT_LT(errors_of("experts", 4).back(), 0.09);
  const std::vector<double> grouped = errors_of("grouped_experts", 2);
  EXPECT_LT(grouped.back(), 0.09);
  EXPECT_LT(grouped[grouped.size() / 2], 0.03);
  // Of four GPUs one has 1.35 times its share of rows, which brings it to its power limit.
  const std::vector<double> of_four = errors_of("grouped_experts", 4);
  EXPECT_LT(of_four.back(), 0.16);
  EXPECT_LT(of_four[of_four.size() / 2], 0.06);
}

TEST(MeasuredSteps, in_fp8_are_within_3_percent) { EXPECT_LT(errors_of("fp8", 1).back(), 0.03); }

TEST(MeasuredSteps, with_collectives_beside_products_are_within_9_percent) {
  EXPECT_LT(errors_of("ddp", 2).back(), 0.04);
  EXPECT_LT(errors_of("ddp", 4).back(), 0.09);
  EXPECT_LT(errors_of("tensor", 2).back(), 0.04);
  EXPECT_LT(errors_of("tensor", 4).back(), 0.04);
}

TEST(MeasuredSteps, of_pipelines_are_within_4_percent_on_two_gpus_and_9_on_four) {
  const std::vector<double> two = errors_of("pipeline", 2);
  EXPECT_LT(two.back(), 0.04);
  EXPECT_LT(two[two.size() / 2], 0.025);
  EXPECT_LT(errors_of("pipeline", 4).back(), 0.09);
}

TEST(MeasuredSteps, of_pipelines_that_share_parameters_are_within_7_percent) {
  const std::vector<double> errors = errors_of("shared_pipeline", 4);
  EXPECT_LT(errors.back(), 0.07);
  EXPECT_LT(errors[errors.size() / 2], 0.035);  // the same when simulated whole
}

// Over 1F1B: 1.113 and 1.076 measured. Sends that do not wait for one another would bring it below
// 1, as Megatron-LM's: 0.85 and 0.92.
TEST(MeasuredSteps, of_interleaved_stages_of_four_gpus_lose_to_plain_ones_as_measured) {
  for (const int microbatches : {4, 8}) {
    const auto over = [&](double Step::*of) {
      return time_of("interleaved", 2, microbatches, true, of, 4) /
             time_of("1f1b", 1, microbatches, true, of, 4);
    };
    EXPECT_GT(over(&Step::simulated), 1);
    EXPECT_NEAR(over(&Step::simulated), over(&Step::measured), 0.08);
  }
}

TEST(MeasuredSteps, of_schedules_are_ordered_as_measured) {
  for (double Step::*of : {&Step::measured, &Step::simulated}) {
    EXPECT_NEAR(time_of("gpipe", 1, 4, true, of) / time_of("1f1b", 1, 4, true, of), 1, 0.02);
    EXPECT_GT(time_of("1f1b", 1, 4, true, of), time_of("interleaved", 2, 4, true, of));
    EXPECT_GT(time_of("interleaved", 2, 4, true, of), time_of("interleaved", 4, 4, true, of));
    EXPECT_GT(time_of("interleaved", 4, 4, false, of), time_of("zb_v", 2, 4, false, of));
  }
}

// Over 1F1B, none with torch.compile, with 4 and 8 microbatches: ZB-V 0.879 and 0.944 measured on
// two GPUs, 0.817 and 0.877 on four; DualPipeV, whose passes PyTorch runs one after the other,
// 0.906 and 0.966, and 1.087 on four with 8, of which it needs as many as it has parts.
TEST(MeasuredSteps, of_cut_backwards_gain_on_1f1b_what_was_measured) {
  struct Case {
    const char* schedule;
    int gpus;
    int microbatches;
  };
  for (const auto& [schedule, gpus, microbatches] :
       {Case{"zb_v", 2, 4}, Case{"zb_v", 2, 8}, Case{"dualpipe_v", 2, 4}, Case{"dualpipe_v", 2, 8},
        Case{"zb_v", 4, 4}, Case{"zb_v", 4, 8}, Case{"dualpipe_v", 4, 8}}) {
    const auto gain = [&](double Step::*of) {
      return time_of(schedule, 2, microbatches, false, of, gpus) /
             time_of("1f1b", 1, microbatches, false, of, gpus);
    };
    std::cout << fmt::format(
        "{}, {} GPUs, {} microbatches, over 1f1b: {:.3f} measured, {:.3f} simulated\n", schedule,
        gpus, microbatches, gain(&Step::measured), gain(&Step::simulated));
    EXPECT_NEAR(gain(&Step::simulated), gain(&Step::measured), 0.04) << schedule << ' ' << gpus;
  }
}

// 80 % should be. The range has what kernels alone were off by, and nothing of these steps.
TEST(MeasuredSteps, are_within_their_ranges) {
  const auto within = [](const Step& step) {
    return step.range.low_us <= step.measured && step.measured <= step.range.high_us;
  };
  std::vector<Step> compiled;
  for (const Step& step : steps()) {
    if (step.line["compiled"]) compiled.push_back(step);
  }
  const auto inside = std::count_if(compiled.begin(), compiled.end(), within);
  std::cout << fmt::format("{} of {} compiled steps within the range that should have 80 %\n",
                           inside, compiled.size());
  EXPECT_GE(static_cast<double>(inside), 0.8 * static_cast<double>(compiled.size()));
}

}  // namespace
}  // namespace weft::measured_steps_test
