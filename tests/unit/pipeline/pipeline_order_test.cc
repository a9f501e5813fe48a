// Which step of a pipeline comes after which, by hand.
#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "sim/pipeline/pipeline.h"

namespace weft::pipeline_order_test {
namespace {

using Kind = PipelineStep::Kind;

// Stage 0 warms up with one forward. A forward takes 1, a backward 2:
//   stage 0   F0 F1 .. .. B0 B0 F2 B1 B1 .. B2 B2
//   stage 1   .. F0 B0 B0 F1 B1 B1 F2 B2 B2
TEST(Pipeline, two_stages_and_three_microbatches_take_one_forward_and_one_backward_in_turn) {
  EXPECT_EQ(pipeline_order({.stages = 2, .microbatches = 3, .trains = true}),
            (std::vector<PipelineStep>{{Kind::forward, 0, 0},
                                       {Kind::send_forward, 0, 0},
                                       {Kind::forward, 0, 1},
                                       {Kind::forward, 1, 0},
                                       {Kind::send_forward, 0, 1},
                                       {Kind::backward, 1, 0},
                                       {Kind::send_backward, 1, 0},
                                       {Kind::backward, 0, 0},
                                       {Kind::forward, 1, 1},
                                       {Kind::backward, 1, 1},
                                       {Kind::forward, 0, 2},
                                       {Kind::send_forward, 0, 2},
                                       {Kind::send_backward, 1, 1},
                                       {Kind::backward, 0, 1},
                                       {Kind::forward, 1, 2},
                                       {Kind::backward, 1, 2},
                                       {Kind::send_backward, 1, 2},
                                       {Kind::backward, 0, 2}}));
}

TEST(Pipeline, an_answer_only_goes_forward) {
  EXPECT_EQ(pipeline_order({.stages = 2, .microbatches = 2, .trains = false}),
            (std::vector<PipelineStep>{{Kind::forward, 0, 0},
                                       {Kind::send_forward, 0, 0},
                                       {Kind::forward, 0, 1},
                                       {Kind::forward, 1, 0},
                                       {Kind::send_forward, 0, 1},
                                       {Kind::forward, 1, 1}}));
}

// At most `stages - stage` microbatches are in flight on a stage: 1F1B keeps no more activations.
TEST(Pipeline, a_stage_keeps_no_more_microbatches_than_there_are_stages_from_it_on) {
  constexpr int kStages = 5;
  std::map<int, int> in_flight;
  for (const PipelineStep& step :
       pipeline_order({.stages = kStages, .microbatches = 12, .trains = true})) {
    if (step.kind == Kind::forward) ++in_flight[step.stage];
    if (step.kind == Kind::backward) --in_flight[step.stage];
    EXPECT_LE(in_flight[step.stage], kStages - step.stage);
  }
  for (const auto& [stage, count] : in_flight) EXPECT_EQ(count, 0) << stage;
}

TEST(Pipeline, what_a_step_waits_for_comes_before_it) {
  std::map<std::tuple<Kind, int, int>, bool> seen;
  for (const PipelineStep& step :
       pipeline_order({.stages = 4, .microbatches = 6, .trains = true})) {
    if (step.kind == Kind::forward && step.stage > 0) {
      EXPECT_TRUE(seen.contains({Kind::send_forward, step.stage - 1, step.microbatch}));
    }
    if (step.kind == Kind::backward && step.stage < 3) {
      EXPECT_TRUE(seen.contains({Kind::send_backward, step.stage + 1, step.microbatch}));
    }
    if (step.kind == Kind::send_forward) {
      EXPECT_TRUE(seen.contains({Kind::forward, step.stage, step.microbatch}));
    }
    seen[{step.kind, step.stage, step.microbatch}] = true;
  }
  EXPECT_EQ(seen.size(), 4U * 6 * 2 + 3U * 6 * 2);
}

TEST(Pipeline, fewer_microbatches_than_stages_drain_too) {
  EXPECT_EQ(pipeline_order({.stages = 4, .microbatches = 1, .trains = true}).size(), 8U + 6U);
}

}  // namespace
}  // namespace weft::pipeline_order_test
