// Ring attention: what its sends add to a step, predicted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/models/build_model.h"
#include "sim/models/run_model.h"
#include "tests/unit/engine/simulated.h"

namespace weft::ring_time_test {
namespace {

// One layer on 4 GPUs where only matrix products and links take time. A GPU has 2,048 of 8,192
// tokens. A step: 2 x 1,024^2 pairs x 4 heads x 4 x 64 operations at 0.65 x 10 TFLOP/s, 330 us;
// keys and values: 2,048 x 4 heads x 128 elements x 2 B = 2 MiB.
constexpr double kStep = 2.0 * 1024 * 1024 * 4 * 4 * 64 / (0.65 * 10e6);  // us
constexpr double kSent = 2'097'152;

double exposed(const std::string& phase, double gigabytes_per_second) {
  const Scenario scenario = scenario_of(
      "name: ring\ncluster:\n  name: ring\n  nodes: 1\n  gpus_per_node: 4\n  gpu: {base: "
      "gpus/ideal, bf16_matrix: 10 TFLOP/s}\n  scale_up: {shape: fully_connected, link: "
      "{bandwidth: " +
      std::to_string(gigabytes_per_second) +
      " GB/s, latency: 100 ns}}\nworkload:\n  kind: transformer\n  model: {layers: 1, hidden: 256, "
      "heads: 4, inner: 256, vocabulary: 1000}\n  phase: " +
      phase + (phase == "training" ? "\n  gradient_bucket: 1 GB" : "") +  // summed after all of it
      "\n  sequences: 1\n  microbatch: 1\n  sequence_length: 8192\n  parallel: {context: 4}\n"
      "modes: [bulk]\n");
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  const RunResult result = ModelRun(scenario, cluster, graph).run(Mode::bulk, {});
  EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
  const auto send = std::find_if(result.parts.begin(), result.parts.end(),
                                 [](const PartUse& part) { return part.name == "send"; });
  if (send == result.parts.end()) return 0;
  return to_microseconds(send->exposed) / 4;
}

TEST(RingTime, sends_shorter_than_a_step_are_hidden) {
  EXPECT_LT(kSent / 100e3, kStep / 10);
  EXPECT_LT(exposed("prefill", 100), 2);
  EXPECT_LT(exposed("training", 100), 4);
}

// Three of the four steps send; each is longer than its attention by the same time.
TEST(RingTime, longer_sends_are_exposed_by_what_they_are_longer) {
  const double send = kSent / 2e3;
  EXPECT_GT(send, 3 * kStep);
  EXPECT_NEAR(exposed("prefill", 2), 3 * (send - kStep), 0.02 * 3 * send);
}

// Backward, a step takes 5 products instead of 2, at 0.55 of the peak: 975 us. Sends of 1, 2, 2 and
// 1 times the bytes lie beside the four steps.
TEST(RingTime, backward_gradients_double_what_is_sent) {
  const double backward = kStep * 2.5 * 0.65 / 0.55;
  const double send = kSent / 1e3;
  const double ahead = 3 * (send - kStep);
  const double back = 2 * (send - backward) + 2 * (2 * send - backward);
  EXPECT_NEAR(exposed("training", 1), ahead + back, 0.02 * (ahead + back));
}

}  // namespace
}  // namespace weft::ring_time_test
