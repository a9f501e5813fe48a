// Schedules against their closed forms: equal parts, sends that take no time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/pipeline/pipeline.h"

namespace weft::schedules_test {
namespace {

using Kind = PipelineStep::Kind;

// Of whole stages: a part of v virtual stages takes a v-th, so times are given for a part.
struct Case {
  int stages = 1;
  int microbatches = 1;
  int virtual_stages = 1;
};
std::vector<Case> cases(Schedule schedule) {
  const int fixed = schedule_row(schedule).virtual_stages;
  std::vector<Case> all;
  for (const int stages : {2, 3, 4, 8}) {
    for (const int times : {2, 3, 5}) {
      for (const int v : fixed > 0 ? std::vector{fixed} : std::vector{2, 3, 4}) {
        all.push_back({stages, times * stages, v});
      }
    }
  }
  return all;
}

PipelineShape shape_of(Schedule schedule, const Case& c) {
  return {.schedule = schedule,
          .stages = c.stages,
          .microbatches = c.microbatches,
          .virtual_stages = c.virtual_stages,
          .trains = true};
}

struct Bubbles {
  std::int64_t work = 0;        // of a stage
  std::int64_t whole = 0;       // what the step takes beyond that
  std::int64_t once_begun = 0;  // the most that a stage waits between its first and last steps
};
Bubbles bubbles_of(const PipelineShape& shape, const StepTimes& times) {
  Bubbles bubbles;
  bubbles.work = std::int64_t{shape.microbatches} * shape.virtual_stages *
                 (times.forward + times.input_gradient + times.weight_gradient);
  for (const std::vector<TimedStep>& steps : timed_steps(shape, times)) {
    bubbles.whole = std::max(bubbles.whole, steps.back().end - bubbles.work);
    bubbles.once_begun =
        std::max(bubbles.once_begun, steps.back().end - steps.front().start - bubbles.work);
  }
  return bubbles;
}

std::string text_of(const Case& c) {
  return std::to_string(c.stages) + " stages, " + std::to_string(c.microbatches) +
         " microbatches, " + std::to_string(c.virtual_stages) + " virtual stages";
}

// How many microbatches of its parts a stage keeps at most: from a forward to the gradient of the
// weights.
int most_kept(const PipelineShape& shape, int stage) {
  int kept = 0;
  int most = 0;
  for (const PipelineStep& step : steps_of(shape, stage)) {
    if (step.kind == Kind::forward) most = std::max(most, ++kept);
    if (step.kind == Kind::backward || step.kind == Kind::weight_gradient) --kept;
  }
  EXPECT_EQ(kept, 0);
  return most;
}

// (p - 1) (F + B + W) of a part, which is a v-th of a stage: of the work m v (F + B + W) that is
// (p - 1) / (m v). Narayanan et al. (arXiv:2104.04473), Sec. 2.2.1 and 2.2.2; GPipe: Huang et al.
// (arXiv:1811.06965), Sec. 2.3; breadth-first: Lamy-Poirier (arXiv:2211.05953), Sec. 4.
TEST(Schedules, bubbles_of_whole_backwards_are_stages_less_one_by_microbatches_and_virtual_stages) {
  for (const Schedule schedule : {Schedule::one_forward_one_backward, Schedule::interleaved,
                                  Schedule::gpipe, Schedule::breadth_first}) {
    for (const Case& c : cases(schedule)) {
      for (const StepTimes& times : {StepTimes{1, 1, 1}, StepTimes{3, 4, 2}, StepTimes{5, 2, 9}}) {
        const Bubbles bubbles = bubbles_of(shape_of(schedule, c), times);
        // whole / work = (p - 1) / (m v), exactly.
        EXPECT_EQ(bubbles.whole * c.microbatches * c.virtual_stages, bubbles.work * (c.stages - 1))
            << schedule_row(schedule).word << ", " << text_of(c);
      }
    }
  }
}

// Qi et al. (arXiv:2401.10241), Table 1: (p - 1) (F + B - W), where W is no longer than F or B.
TEST(Schedules, bubbles_of_zb_h1_are_those_of_1f1b_less_two_gradients_of_weights) {
  for (const Case& c : cases(Schedule::zero_bubble_h1)) {
    for (const StepTimes& t : {StepTimes{1, 1, 1}, StepTimes{3, 4, 2}, StepTimes{5, 6, 5}}) {
      EXPECT_EQ(bubbles_of(shape_of(Schedule::zero_bubble_h1, c), t).whole,
                (c.stages - 1) * (t.forward + t.input_gradient - t.weight_gradient))
          << text_of(c);
    }
  }
}

// Qi et al. (arXiv:2405.15362), Table 1: none where F = B = W; the last stage begins p - 1 forwards
// of a part after the first.
TEST(Schedules, zb_v_has_no_bubbles_where_forwards_and_gradients_take_equally_long) {
  for (const Case& c : cases(Schedule::zero_bubble_v)) {
    const Bubbles bubbles = bubbles_of(shape_of(Schedule::zero_bubble_v, c), {7, 7, 7});
    EXPECT_EQ(bubbles.once_begun, 0) << text_of(c);
    EXPECT_EQ(bubbles.whole, (c.stages - 1) * 7) << text_of(c);
  }
}

// github.com/deepseek-ai/DualPipe: (PP / 2 - 1) (F&B + B - 3 W) of PP parts, where B is a whole
// backward and F&B a forward and a backward that overlap; F = B - W = W. Of the last stage: those
// before it have fewer pairs that overlap.
TEST(Schedules, bubbles_of_dualpipe_v_are_an_overlapped_pair_and_a_backward_less_three_weights) {
  for (const Case& c : cases(Schedule::dualpipe_v)) {
    for (const std::int64_t pair : {12, 10, 9}) {
      const StepTimes t{4, 4, 4, pair};
      const auto stages = timed_steps(shape_of(Schedule::dualpipe_v, c), t);
      std::int64_t whole = 0;
      for (const auto& steps : stages) whole = std::max(whole, steps.back().end);
      std::int64_t work = 0;
      std::int64_t before = -1;
      for (const TimedStep& timed : stages.back()) {
        if (timed.start != before) work += timed.end - timed.start;  // a pair is counted once
        before = timed.start;
      }
      EXPECT_EQ(whole - work, (c.stages - 1) * (pair + 8 - 3 * 4)) << text_of(c) << ", " << pair;
    }
  }
}

// (p - 1) (F + B + W) beside the last stage's work, whose pairs take `pair`: its first forward
// comes after p - 1 of others, and p - 1 backwards follow its last. By hand for 2 stages of 2 parts
// and 4 microbatches, F = B = W = 4 and pairs of 9: 4 + (3 x 4 + 5 x 9 + 3 x 8) + 8 = 93.
TEST(Schedules, bubbles_of_combined_1f1b_are_those_of_1f1b_beside_the_pairs_of_the_last_stage) {
  for (const Case& c : cases(Schedule::combined_1f1b)) {
    for (const std::int64_t pair : {12, 10, 9}) {
      const auto stages =
          timed_steps(shape_of(Schedule::combined_1f1b, c), StepTimes{4, 4, 4, pair});
      std::int64_t whole = 0;
      for (const auto& steps : stages) whole = std::max(whole, steps.back().end);
      const int alone = (c.virtual_stages - 1) * c.stages + 1;  // forwards, and backwards
      const int pairs = c.virtual_stages * c.microbatches - alone;
      EXPECT_EQ(whole, (c.stages - 1) * 12 + alone * 12 + pairs * pair) << text_of(c);
      if (c.stages == 2 && c.microbatches == 4 && c.virtual_stages == 2 && pair == 9) {
        EXPECT_EQ(whole, 93);
      }
    }
  }
}

// In microbatches of a part. 1F1B: those that are on their way to the end and back (PipeDream-2BW,
// arXiv:2006.09503); interleaved: Korthikanti et al. (arXiv:2205.05198), Sec. 4.2.3: a stage keeps
// 1 + (p - 1) / (p v) times the p v of 1F1B, at the first stage, 2 less at each one behind; GPipe
// and breadth-first: all; zero bubbles: no more than the first stage of 1F1B.
TEST(Schedules, a_stage_keeps_as_many_microbatches_as_published) {
  const auto published = [](Schedule schedule, const Case& c, int stage) {
    switch (schedule) {
      case Schedule::one_forward_one_backward:
        return c.stages - stage;
      case Schedule::interleaved:
        return c.virtual_stages * c.stages + c.stages - 1 - 2 * stage;
      case Schedule::combined_1f1b:  // a forward more
        return std::min(c.virtual_stages * c.microbatches,
                        c.virtual_stages * c.stages + c.stages - 2 * stage);
      case Schedule::gpipe:
      case Schedule::breadth_first:
        return c.virtual_stages * c.microbatches;
      case Schedule::zero_bubble_h1:
        return c.stages;
      case Schedule::zero_bubble_v:
        return 2 * c.stages;
      case Schedule::dualpipe_v:  // "PP + 1" of PP parts: github.com/deepseek-ai/DualPipe
        return 2 * c.stages + 1;
    }
    return 0;
  };
  for (const ScheduleRow& row : schedules()) {
    for (const Case& c : cases(row.schedule)) {
      for (int stage = 0; stage < c.stages; ++stage) {
        EXPECT_EQ(most_kept(shape_of(row.schedule, c), stage), published(row.schedule, c, stage))
            << row.word << ", " << text_of(c) << ", stage " << stage;
      }
    }
  }
}

// Any number of microbatches that a schedule takes. timed_steps() aborts if a stage waits for ever.
TEST(Schedules, every_part_has_each_microbatch_once_forward_before_backward_before_weights) {
  int tried = 0;
  for (const ScheduleRow& row : schedules()) {
    for (int stages = 2; stages <= 6; ++stages) {
      for (int microbatches = 1; microbatches <= 14; ++microbatches) {
        const Case c{stages, microbatches, row.virtual_stages > 0 ? row.virtual_stages : 3};
        const PipelineShape shape = shape_of(row.schedule, c);
        if (!row.obstacle(shape).empty()) continue;
        ++tried;
        std::set<std::tuple<Kind, int, int, int>> seen;
        int backwards = 0;  // whole ones, and gradients of inputs
        for (const std::vector<TimedStep>& steps : timed_steps(shape, {2, 3, 1})) {
          for (const TimedStep& timed : steps) {
            const PipelineStep& s = timed.step;
            const auto key = [&](Kind kind) {
              return std::tuple(kind, s.stage, s.virtual_stage, s.microbatch);
            };
            EXPECT_TRUE(seen.insert(key(s.kind)).second);
            EXPECT_TRUE(seen.contains(key(Kind::forward)));
            if (s.kind == Kind::weight_gradient) {
              EXPECT_TRUE(seen.contains(key(Kind::input_gradient)));
            } else if (s.kind != Kind::forward) {
              ++backwards;
            }
          }
        }
        const int all = stages * c.virtual_stages * microbatches;
        const auto of_kind = [&seen](Kind kind) {
          return std::count_if(seen.begin(), seen.end(),
                               [kind](const auto& key) { return std::get<0>(key) == kind; });
        };
        EXPECT_EQ(of_kind(Kind::forward), all) << row.word << ", " << text_of(c);
        EXPECT_EQ(backwards, all) << row.word << ", " << text_of(c);
        EXPECT_EQ(of_kind(Kind::weight_gradient), of_kind(Kind::input_gradient));
        EXPECT_EQ(of_kind(Kind::input_gradient) > 0, row.cuts_backward);
      }
    }
  }
  EXPECT_GT(tried, 200);
}

// Part k + 1 lies where place_behind() says, and back; a step's inputs are there when it begins.
TEST(Schedules, parts_follow_one_another_through_the_places) {
  for (const ScheduleRow& row : schedules()) {
    const Case c{4, 8, row.virtual_stages > 0 ? row.virtual_stages : 3};
    const PipelineShape shape = shape_of(row.schedule, c);
    std::vector<PipelinePlace> place(static_cast<std::size_t>(parts_of(shape)));
    for (int stage = 0; stage < c.stages; ++stage) {
      for (int v = 0; v < c.virtual_stages; ++v) {
        place.at(static_cast<std::size_t>(part_at(shape, {stage, v}))) = {stage, v};
      }
    }
    for (std::size_t part = 0; part + 1 < place.size(); ++part) {
      EXPECT_EQ(place_behind(shape, place[part]), place[part + 1]);
      EXPECT_EQ(place_before(shape, place[part + 1]), place[part]);
    }
    EXPECT_FALSE(place_before(shape, place.front()).has_value());
    EXPECT_FALSE(place_behind(shape, place.back()).has_value());
  }
}

// Two stages of two virtual stages: p = 2 microbatches through the first, then through the second.
// Stage 0 warms up with 2 (p - 1 - 0) + (v - 1) p = 4 forwards, stage 1 with 2.
TEST(Schedules, interleaved_by_hand) {
  const PipelineShape shape = shape_of(Schedule::interleaved, {2, 4, 2});
  const auto text = [&](int stage) {
    std::string all;
    for (const PipelineStep& s : steps_of(shape, stage)) {
      all += (s.kind == Kind::forward ? "F" : "B") + std::to_string(s.microbatch) +
             (s.virtual_stage == 0 ? "a " : "b ");
    }
    return all;
  };
  EXPECT_EQ(text(0), "F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a ");
  EXPECT_EQ(text(1), "F0a F1a F0b B0b F1b B1b F2a B0a F3a B1a F2b B2b F3b B3b B2a B3a ");
}

// What leaves the last stage goes on at the first.
TEST(Schedules, with_virtual_stages_the_last_stage_sends_to_the_first) {
  int around = 0;
  for (const PipelineStep& s : pipeline_order(shape_of(Schedule::interleaved, {2, 4, 2}))) {
    if (s.kind == Kind::send_forward && s.stage == 1) ++around;
    EXPECT_FALSE(s.kind == Kind::send_forward && s.stage == 1 && s.virtual_stage == 1);
  }
  EXPECT_EQ(around, 4);
}

// Stage 1 of 2, 5 microbatches, by hand from PyTorch's ScheduleDualPipeV: small letters are the
// second virtual stage, I and W gradients of inputs and weights, + overlaps.
TEST(Schedules, dualpipe_v_by_hand) {
  const PipelineShape shape = shape_of(Schedule::dualpipe_v, {2, 5, 2});
  const auto text = [&](int stage) {
    std::string all;
    for (const PipelineStep& s : steps_of(shape, stage)) {
      const char* const upper = s.kind == Kind::forward          ? "F"
                                : s.kind == Kind::backward       ? "B"
                                : s.kind == Kind::input_gradient ? "I"
                                                                 : "W";
      all += upper + std::to_string(s.microbatch) + (s.virtual_stage == 0 ? "a" : "b") +
             (s.overlaps_next ? "+" : " ");
    }
    return all;
  };
  EXPECT_EQ(text(1),
            "F0a F0b F1a F1b F2a B0b F2b+B0a F3a+B1b F3b+B1a F4a+B2b F4b+B2a B3b B3a I4b I4a "
            "W4b W4a ");
  EXPECT_EQ(text(0),
            "F0a F1a F2a F0b I0b W0b F1b F3a+B1b F2b+B0a F4a+B2b F3b+B1a B3b F4b+B2a B4b I3a W3a "
            "I4a W4a ");
}

TEST(Schedules, microbatches_that_do_not_divide_by_stages_cannot_be_interleaved) {
  const ScheduleRow& row = schedule_row(Schedule::interleaved);
  EXPECT_EQ(row.obstacle(shape_of(Schedule::interleaved, {4, 8, 2})), "");
  EXPECT_EQ(row.obstacle(shape_of(Schedule::interleaved, {4, 10, 2})),
            "10 microbatches per copy do not divide by 4 stages, which take them in groups of "
            "that size; nearest: 8 and 12");
}

}  // namespace
}  // namespace weft::schedules_test
