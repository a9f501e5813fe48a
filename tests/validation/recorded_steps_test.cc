// Profiles of steps on two H100 (calibration/pytorch/record_trace.py): the replay of what was
// recorded, against the recorded time on the GPU and against the same step without the profiler.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <string>

#include "sim/core/quantity.h"
#include "sim/models/join_ranks.h"
#include "sim/models/run_model.h"
#include "sim/scenario/load.h"
#include "sim/traces/load_trace.h"

namespace weft::recorded_steps_test {
namespace {

const std::string kTraces = WEFT_SOURCE_DIR "/calibration/measurements/traces/";

struct Replayed {
  double us = 0;
  double recorded_us = 0;  // without the host's time, if that is dropped
};

Replayed replayed(const std::string& trace, const std::string& how = "steps: mean") {
  const Loaded loaded = load_scenario_text(
      "name: replayed\n"
      "cluster: {base: clusters/node_8x_h100, gpus_per_node: 2, gpu: {collective: {algorithms: "
      "[ring, tree]}}}\n"
      "workload: {kind: pytorch, " +
          how + ", path: '" + kTraces + trace + "'}\nmodes: [bulk]\n",
      "replayed.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  if (!loaded.scenario) throw std::runtime_error(loaded.problems.to_text());
  const LoadedTrace read = load_trace(loaded.scenario->workload.trace, 2);
  if (!read.graph) throw std::runtime_error(read.problems.to_text());
  const Cluster cluster = build_cluster(loaded.scenario->cluster);
  const ModelGraph graph = join_ranks(*read.graph);
  ModelRun run(*loaded.scenario, cluster, graph);
  const RunResult result = run.run(Mode::bulk, {});
  const bool dropped = loaded.scenario->workload.trace.host == HostTime::drop;
  const Duration recorded =
      read.summary.step->time - (dropped ? read.summary.step->unlaunched : Duration{});
  std::cout << trace << ": " << to_microseconds(result.time) << " us, recorded "
            << to_microseconds(recorded) << " us\n";
  return {.us = to_microseconds(result.time), .recorded_us = to_microseconds(recorded)};
}

// Without the profiler a step takes 19,107 us (steps.jsonl): 20 of them in a row run into the power
// limit, which two do not.
TEST(RecordedSteps, a_layer_of_llama_70b) {
  const Replayed step = replayed("h100-x2-llama70b");
  EXPECT_NEAR(step.us / step.recorded_us, 1, 0.03);
  EXPECT_NEAR(step.us / 19'106.7, 1, 0.07);
}

// The profiler slows the host so much that the GPUs wait for it for a third of the step, and its
// launches come in the wrong moments: what the GPU took is not known to better than some per cent.
TEST(RecordedSteps, two_layers_of_llama_8b) {
  const Replayed step = replayed("h100-x2-llama8b");
  EXPECT_NEAR(step.us / step.recorded_us, 1, 0.07);
  EXPECT_NEAR(step.us / 11'592.0, 1, 0.05);
}

// With the host's time, steps of 19.6 and 16.8 ms, of which the GPU is at work for 11.
TEST(RecordedSteps, with_the_hosts_time) {
  for (const char* step : {"3", "4"}) {
    const Replayed kept = replayed("h100-x2-llama8b", std::string("host: recorded, step: ") + step);
    EXPECT_NEAR(kept.us / kept.recorded_us, 1, 0.01) << step;
  }
}

}  // namespace
}  // namespace weft::recorded_steps_test
