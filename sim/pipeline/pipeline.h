// Schedules of a pipeline: the order in which each stage does its work.
//
// A model is cut into consecutive parts. A stage (its GPUs) holds one part or several, its virtual
// stages. A schedule says which ones, and lists what each stage does: forwards and backwards or,
// where a backward is cut in two, gradients of inputs and of weights. It is plain data: nothing
// here knows how long anything takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class Schedule : std::uint8_t {
  one_forward_one_backward,
  interleaved,
  combined_1f1b,
  gpipe,
  breadth_first,
  zero_bubble_h1,
  zero_bubble_v,
  dualpipe_v
};

// How the sends and receives of a GPU follow one another, where a schedule has a choice.
enum class SendOrder : std::uint8_t {
  free,     // those with other neighbours, or in the other direction, do not wait
  in_turns  // all do, as the stages take a step each in turn and send what they have made
};

struct PipelineShape {
  Schedule schedule = Schedule::one_forward_one_backward;
  int stages = 1;
  int microbatches = 1;
  int virtual_stages = 1;  // per stage
  bool trains = false;     // otherwise forward only
  SendOrder sends = SendOrder::free;
};

struct PipelineStep {
  // A send goes to the stage that continues with the result, forward or backward. A backward
  // computes both gradients.
  enum class Kind : std::uint8_t {
    send_forward,
    send_backward,
    forward,
    backward,
    input_gradient,
    weight_gradient
  };
  Kind kind = Kind::forward;
  int stage = 0;
  int microbatch = 0;
  int virtual_stage = 0;  // of this stage
  // A forward, layer by layer beside the backward that comes next, of another microbatch and
  // virtual stage: what either waits for is filled by the other. Both begin and end together.
  bool overlaps_next = false;
  bool operator==(const PipelineStep&) const = default;
};

constexpr bool computes(PipelineStep::Kind kind) {
  return kind != PipelineStep::Kind::send_forward && kind != PipelineStep::Kind::send_backward;
}

// One of a stage's virtual stages.
struct PipelinePlace {
  int stage = 0;
  int virtual_stage = 0;
  bool operator==(const PipelinePlace&) const = default;
};

// How the parts of a model are placed on its stages. loop: over all stages, then over all of them
// again, and so on; vee: the first half over all stages, the second half back again.
enum class PipelinePath : std::uint8_t { loop, vee };

struct ScheduleRow {
  Schedule schedule;
  std::string_view word;  // in scenarios
  std::string_view meaning;
  PipelinePath path = PipelinePath::loop;
  int virtual_stages = 1;      // per stage; 0: as many as are asked for, two or more
  bool cuts_backward = false;  // into gradients of inputs and of weights
  // What one stage does, in order.
  std::vector<PipelineStep> (*make)(const PipelineShape& shape, int stage);
  // Why it is impossible for this shape, as a message; empty if it is possible.
  std::string (*obstacle)(const PipelineShape& shape);
};

// Others have one part a stage and whole backwards: a GPU's sends and receives follow one another.
constexpr bool has_a_choice_of_sends(const ScheduleRow& row) {
  return row.virtual_stages != 1 || row.cuts_backward;
}

// The rows of all schedules, and the row of one.
const std::vector<ScheduleRow>& schedules();
const ScheduleRow& schedule_row(Schedule schedule);

// The number of parts that the model is cut into, and the part (from 0) at a place.
int parts_of(const PipelineShape& shape);
int part_at(const PipelineShape& shape, const PipelinePlace& place);
// The place of the next part, and of the previous one; none at the model's ends.
std::optional<PipelinePlace> place_behind(const PipelineShape& shape, const PipelinePlace& place);
std::optional<PipelinePlace> place_before(const PipelineShape& shape, const PipelinePlace& place);

// What one stage does, in order, without sends.
std::vector<PipelineStep> steps_of(const PipelineShape& shape, int stage);

// How long steps take, in any unit.
struct StepTimes {
  std::int64_t forward = 1;
  std::int64_t input_gradient = 1;
  std::int64_t weight_gradient = 1;
  std::optional<std::int64_t> overlapped = {};  // a forward and a backward; none: their sum
};
struct TimedStep {
  std::int64_t start = 0;
  std::int64_t end = 0;
  PipelineStep step;
};

// When each step runs if sends take no time: by stage, each stage's steps in their order.
std::vector<std::vector<TimedStep>> timed_steps(const PipelineShape& shape, const StepTimes& times);

// All steps and sends, what a step waits for before it: ordered by when they would begin if a
// forward and each of the two gradients took equally long and sends took no time, or (SendOrder)
// stages in turn, a step each if it has its input, with its sends ([P] _add_send_recv of PyTorch
// 2.11: each puts a send into its own GPU's queue and the receive into the other's).
std::vector<PipelineStep> pipeline_order(const PipelineShape& shape);
bool sends_in_turns(const PipelineShape& shape);

// A receive that waits on a stage from the beginning of one of its steps, for `waits` / `of` of it.
struct BesideReceive {
  int from_stage = 0;
  std::int64_t waits = 0;  // 0: none does
  std::int64_t of = 1;
  bool operator==(const BesideReceive&) const = default;
};

// By stage and step (steps_of). With one part a stage and whole backwards none waits. With several,
// or backwards that are cut, stages take a step each in turn and each sends what it has made: the
// receive is posted after what its stage has been given before (_add_send_recv of PyTorch) and
// waits until the sender has made it, times as above; in turns (SendOrder) sends wait as well, each
// until both sides have ended those before. Of several the one that waits longest.
std::vector<std::vector<BesideReceive>> steps_beside_receives(const PipelineShape& shape);

}  // namespace weft
