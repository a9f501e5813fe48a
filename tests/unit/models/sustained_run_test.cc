// The clock of whole steps under the power limit.
#include "sim/models/sustained_run.h"

#include <gtest/gtest.h>

#include "tests/sanitized.h"
#include "tests/unit/models/built.h"

namespace weft::sustained_run_test {
namespace {

double clock_of(const Scenario& scenario) {
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  return SustainedRun(scenario, cluster, graph).run(Mode::bulk, {}).clock;
}

// Eight experts on as many GPUs, by how often each is chosen; as many rows in all.
Scenario experts(const std::string& histogram) {
  return models_testing::scenario_of(
      "{kind: moe, phase: training, model: {vocabulary: 1, layers: 1, hidden: 4096, heads: 32, "
      "kv_heads: 8}, moe: {experts: 8, top_k: 2, inner: 14336, router: histogram, "
      "histogram: [" +
          histogram +
          "]}, sequences: 8, sequence_length: 4096, microbatch: 1, "
          "parallel: {data: 8, expert: 8}}",
      1);
}

// The others wait for the GPU with twice as many rows, so their mean power is lower, not its own.
TEST(SustainedRun, the_busiest_gpu_has_the_clock_of_its_own_power) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  EXPECT_LT(clock_of(experts("2, 1, 1, 1, 1, 1, 1, 1")),
            clock_of(experts("1, 1, 1, 1, 1, 1, 1, 1")));
}

TEST(SustainedRun, few_steps_after_a_pause_end_before_the_limit_is_reached) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  Scenario scenario = experts("1, 1, 1, 1, 1, 1, 1, 1");
  const double always = clock_of(scenario);
  const auto after_pause = [&scenario](int steps) {
    scenario.run.steps_between_pauses = steps;
    return clock_of(scenario);
  };
  EXPECT_EQ(after_pause(1), 1);
  const double after_some = after_pause(20);
  EXPECT_LT(after_some, 1);
  EXPECT_GT(after_some, always);
  EXPECT_EQ(after_pause(100'000), always);
}

Loaded training(const std::string& run, const std::vector<std::string>& sets = {}) {
  std::string text = models_testing::text_of(
      "{base: models/llama3_8b, phase: training, sequences: 1, sequence_length: 512, "
      "microbatch: 1, parallel: {tensor: 8, data: 1}}",
      1);
  text.back() = ',';
  LoadOptions options = models_testing::shipped_configs();
  options.sets = sets;
  return load_scenario_text(text + " run: " + run + "}", "a.yaml", options);
}

TEST(SustainedRun, pauses_need_a_window_of_the_power_limit) {
  EXPECT_EQ(training("{steps_between_pauses: 2}").problems.to_text(), "");
  for (const char* set : {"cluster.gpu.power=~", "cluster.gpu.power.window=0 ms"}) {
    const Loaded loaded = training("{steps_between_pauses: 2}", {set});
    ASSERT_EQ(loaded.problems.all().size(), 1U) << loaded.problems.to_text();
    EXPECT_EQ(loaded.problems.all().front().path, "run.steps_between_pauses");
  }
}

TEST(SustainedRun, pauses_do_not_go_with_burst_clocks) {
  const Loaded loaded = training("{clocks: burst, steps_between_pauses: 2}");
  ASSERT_EQ(loaded.problems.all().size(), 1U) << loaded.problems.to_text();
  EXPECT_EQ(loaded.problems.all().front().path, "run.steps_between_pauses");
  EXPECT_EQ(loaded.problems.all().front().message,
            "has no effect at the clock of short kernels; leave it out, or say run.clocks: "
            "sustained");
}

}  // namespace
}  // namespace weft::sustained_run_test
