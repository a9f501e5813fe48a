// The table of all schedules, and how they place parts on stages.
#include "sim/pipeline/schedules.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

std::string nothing(const PipelineShape& /*shape*/) { return ""; }

std::string microbatches_divide(const PipelineShape& shape) {
  if (shape.microbatches % shape.stages == 0) return "";
  const int below = shape.microbatches / shape.stages * shape.stages;
  return std::to_string(shape.microbatches) + " microbatches per copy do not divide by " +
         std::to_string(shape.stages) +
         " stages, which take them in groups of that size; nearest: " +
         (below > 0 ? std::to_string(below) + " and " : "") + std::to_string(below + shape.stages);
}

std::string two_for_each_stage(const PipelineShape& shape) {
  const int least = 2 * shape.stages;
  if (shape.microbatches >= least) return "";
  return std::to_string(shape.microbatches) + " microbatches per copy are fewer than the " +
         std::to_string(least) + " parts of " + std::to_string(shape.stages) +
         " stages; at least as many are needed";
}

}  // namespace

const std::vector<ScheduleRow>& schedules() {
  static const std::vector<ScheduleRow> rows = {
      {.schedule = Schedule::one_forward_one_backward,
       .word = "1f1b",
       .meaning = "one forward, one backward in turn (PipeDream-Flush)",
       .make = pipelines::one_forward_one_backward,
       .obstacle = nothing},
      {.schedule = Schedule::interleaved,
       .word = "interleaved",
       .meaning = "the same with virtual stages (Megatron-LM)",
       .virtual_stages = 0,
       .make = pipelines::interleaved,
       .obstacle = microbatches_divide},
      {.schedule = Schedule::combined_1f1b,
       .word = "combined_1f1b",
       .meaning = "as interleaved with one more forward before the first backward; from then on a "
                  "forward overlaps each backward, layer by layer (Megatron-LM's "
                  "overlap-moe-expert-parallel-comm)",
       .virtual_stages = 0,
       .make = pipelines::combined_1f1b,
       .obstacle = microbatches_divide},
      {.schedule = Schedule::gpipe,
       .word = "gpipe",
       .meaning = "all forwards, then all backwards",
       .make = pipelines::breadth_first,
       .obstacle = nothing},
      {.schedule = Schedule::breadth_first,
       .word = "breadth_first",
       .meaning = "the same with virtual stages, one after another",
       .virtual_stages = 0,
       .make = pipelines::breadth_first,
       .obstacle = nothing},
      {.schedule = Schedule::zero_bubble_h1,
       .word = "zb_h1",
       .meaning = "as 1f1b, but gradients of weights fill bubbles, with no more memory",
       .cuts_backward = true,
       .make = pipelines::zero_bubble_h1,
       .obstacle = nothing},
      {.schedule = Schedule::zero_bubble_v,
       .word = "zb_v",
       .meaning = "two virtual stages, the second ones in reverse, from the last stage to the "
                  "first; gradients of weights fill bubbles",
       .path = PipelinePath::vee,
       .virtual_stages = 2,
       .cuts_backward = true,
       .make = pipelines::zero_bubble_v,
       .obstacle = nothing},
      {.schedule = Schedule::dualpipe_v,
       .word = "dualpipe_v",
       .meaning = "as zb_v, but forwards overlap backwards of other microbatches, layer by layer "
                  "(DualPipe of DeepSeek-V3, cut in half)",
       .path = PipelinePath::vee,
       .virtual_stages = 2,
       .cuts_backward = true,
       .make = pipelines::dualpipe_v,
       .obstacle = two_for_each_stage},
  };
  return rows;
}

const ScheduleRow& schedule_row(Schedule schedule) {
  const std::vector<ScheduleRow>& rows = schedules();
  const auto row = std::find_if(rows.begin(), rows.end(), [schedule](const ScheduleRow& other) {
    return other.schedule == schedule;
  });
  SIM_ASSERT(row != rows.end());
  return *row;
}

int parts_of(const PipelineShape& shape) { return shape.stages * shape.virtual_stages; }

int part_at(const PipelineShape& shape, const PipelinePlace& place) {
  const bool goes_back =
      schedule_row(shape.schedule).path == PipelinePath::vee && place.virtual_stage == 1;
  return place.virtual_stage * shape.stages +
         (goes_back ? shape.stages - 1 - place.stage : place.stage);
}

std::optional<PipelinePlace> place_behind(const PipelineShape& shape, const PipelinePlace& place) {
  const auto& [stage, virtual_stage] = place;
  const bool vee = schedule_row(shape.schedule).path == PipelinePath::vee;
  if (vee && virtual_stage == 1) {
    if (stage == 0) return {};
    return PipelinePlace{stage - 1, 1};
  }
  if (stage + 1 < shape.stages) return PipelinePlace{stage + 1, virtual_stage};
  if (virtual_stage + 1 == shape.virtual_stages) return {};
  return PipelinePlace{vee ? stage : 0, virtual_stage + 1};
}

std::optional<PipelinePlace> place_before(const PipelineShape& shape, const PipelinePlace& place) {
  const auto& [stage, virtual_stage] = place;
  if (schedule_row(shape.schedule).path == PipelinePath::vee && virtual_stage == 1) {
    return stage + 1 < shape.stages ? PipelinePlace{stage + 1, 1} : PipelinePlace{stage, 0};
  }
  if (stage > 0) return PipelinePlace{stage - 1, virtual_stage};
  if (virtual_stage == 0) return {};
  return PipelinePlace{shape.stages - 1, virtual_stage - 1};
}

std::vector<PipelineStep> steps_of(const PipelineShape& shape, int stage) {
  if (shape.trains) return schedule_row(shape.schedule).make(shape, stage);
  std::vector<PipelineStep> steps;
  steps.reserve(static_cast<std::size_t>(shape.microbatches));
  for (int m = 0; m < shape.microbatches; ++m) {
    steps.push_back({PipelineStep::Kind::forward, stage, m});
  }
  return steps;
}

}  // namespace weft
