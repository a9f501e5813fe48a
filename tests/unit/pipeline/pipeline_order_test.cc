// Which step of a pipeline comes after which, by hand.
#include <gtest/gtest.h>

#include <algorithm>
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

// For which share of its steps a receive waits beside them.
std::vector<double> waits(const PipelineShape& shape, std::size_t stage) {
  const auto stages = steps_beside_receives(shape);
  std::vector<double> waits;
  for (const BesideReceive& beside : stages.at(stage)) {
    waits.push_back(static_cast<double>(beside.waits) / static_cast<double>(beside.of));
  }
  return waits;
}

// Parts of two stages: 0 and 2, 1 and 3. Each microbatch's forward of part 1 takes the time after
// its forward of part 0, and stage 0 has posted the receive for part 2 before that:
//   stage 0   F00 F01 F20 F21 ... ... B20 B20 ...
//   stage 1   ... F10 F11 F30 B30 B30 F31 B31 B31
// Stage 0 waits for part 1 during F01 and F20; nothing comes from stage 1 during F21. Stage 1 gets
// forwards when it is ready for them, but waits for the gradient of B20, until that has ended:
// during all of F31 and half of B31.
TEST(Pipeline, receives_wait_beside_steps_that_come_before_what_they_bring) {
  const PipelineShape shape{.schedule = Schedule::interleaved,
                            .stages = 2,
                            .microbatches = 2,
                            .virtual_stages = 2,
                            .trains = true};
  const std::vector<double> first = waits(shape, 0);
  EXPECT_EQ(std::vector<double>(first.begin(), first.begin() + 4),
            (std::vector<double>{0, 1, 1, 0}));
  const std::vector<double> second = waits(shape, 1);
  EXPECT_EQ(std::vector<double>(second.begin(), second.begin() + 6),
            (std::vector<double>{0, 0, 0, 0, 1, 0.5}));
}

TEST(Pipeline, receives_of_1f1b_and_gpipe_are_posted_when_they_are_waited_for) {
  for (const Schedule schedule : {Schedule::one_forward_one_backward, Schedule::gpipe}) {
    for (const auto& steps : steps_beside_receives(
             {.schedule = schedule, .stages = 4, .microbatches = 8, .trains = true})) {
      EXPECT_EQ(steps.size(), 16U);
      for (const BesideReceive& beside : steps) EXPECT_EQ(beside.waits, 0);
    }
  }
}

// Four stages with two parts each. In the first turn microbatch 0 goes through the first parts of
// all stages, so that the first stage's receive for its second part stands before its send of
// microbatch 1 (measured on four H100: microbatch 1 waits until 0 has gone round). By time,
// microbatch 1 is sent first.
TEST(PipelineOrder, in_turns_a_microbatch_goes_round_before_the_next_one_is_sent) {
  PipelineShape shape{.schedule = Schedule::interleaved,
                      .stages = 4,
                      .microbatches = 4,
                      .virtual_stages = 2,
                      .trains = true};
  const auto at = [&](const PipelineStep& step) {
    const std::vector<PipelineStep> order = pipeline_order(shape);
    return std::find(order.begin(), order.end(), step) - order.begin();
  };
  const PipelineStep round{Kind::send_forward, 3, 0, 0};
  const PipelineStep next{Kind::send_forward, 0, 1, 0};
  EXPECT_LT(at(next), at(round));
  shape.sends = SendOrder::in_turns;
  EXPECT_LT(at(round), at(next));
}

// The first stage sends microbatch 1 after F1, but its queue holds the receive of microbatch 0's
// second part, which stage 3 sends when F0 has gone through four parts: it waits on the first
// stage's CUs beside F1, F2 and F3. On stage 1 the send of microbatch 0 meets its receiver at once.
TEST(PipelineOrder, in_turns_a_receive_waits_beside_what_comes_before_it) {
  const PipelineShape shape{.schedule = Schedule::interleaved,
                            .stages = 4,
                            .microbatches = 4,
                            .virtual_stages = 2,
                            .trains = true,
                            .sends = SendOrder::in_turns};
  const auto beside = steps_beside_receives(shape);
  EXPECT_EQ(beside[0][0], BesideReceive{});
  for (const std::size_t step : {1U, 2U, 3U}) {
    EXPECT_EQ(beside[0][step], (BesideReceive{.from_stage = 3, .waits = 1, .of = 1})) << step;
  }
  EXPECT_EQ(beside[1][0], BesideReceive{});
}

// One part a stage and whole backwards: there is one order.
TEST(PipelineOrder, of_1f1b_is_the_same_in_turns) {
  PipelineShape shape{.stages = 3, .microbatches = 4, .trains = true};
  const std::vector<PipelineStep> order = pipeline_order(shape);
  shape.sends = SendOrder::in_turns;
  EXPECT_EQ(pipeline_order(shape), order);
}

}  // namespace
}  // namespace weft::pipeline_order_test
