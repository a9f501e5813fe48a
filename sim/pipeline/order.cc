// When the steps of a schedule run.
#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "sim/core/assert.h"
#include "sim/pipeline/pipeline.h"

namespace weft {
namespace {

using Kind = PipelineStep::Kind;
using Steps = std::span<const PipelineStep>;
constexpr std::int64_t kUnknown = -1;

PipelinePlace place_of(const PipelineStep& step) { return {step.stage, step.virtual_stage}; }

// When each forward and each gradient is ready.
class Clock {
 public:
  Clock(const PipelineShape& shape, const StepTimes& times)
      : shape_(shape),
        times_(times),
        ends_(static_cast<std::size_t>(shape.stages) *
                  static_cast<std::size_t>(shape.virtual_stages) *
                  static_cast<std::size_t>(shape.microbatches) * 2,
              kUnknown) {}

  // When the inputs of these steps, done at once, are ready; none: not known yet.
  [[nodiscard]] std::optional<std::int64_t> arrival(Steps at_once) const {
    std::int64_t all = 0;
    for (const PipelineStep& step : at_once) {
      const std::int64_t one = arrival(step);
      if (one == kUnknown) return std::nullopt;
      all = std::max(all, one);
    }
    return all;
  }

  void ends(const PipelineStep& step, std::int64_t when) {
    if (step.kind == Kind::weight_gradient) return;
    const Kind kind = step.kind == Kind::forward ? Kind::forward : Kind::backward;
    ends_[index(kind, place_of(step), step.microbatch)] = when;
  }

  [[nodiscard]] std::int64_t time_of(Steps at_once) const {
    if (at_once.size() > 1 && times_.overlapped) return *times_.overlapped;
    std::int64_t sum = 0;
    for (const PipelineStep& step : at_once) sum += time_of(step.kind);
    return sum;
  }

 private:
  [[nodiscard]] std::int64_t arrival(const PipelineStep& step) const {
    const PipelinePlace place = place_of(step);
    if (step.kind == Kind::weight_gradient) return end_of(Kind::backward, place, step.microbatch);
    const bool ahead = step.kind == Kind::forward;
    const auto before = ahead ? place_before(shape_, place) : place_behind(shape_, place);
    if (before) return end_of(ahead ? Kind::forward : Kind::backward, *before, step.microbatch);
    return ahead ? 0 : end_of(Kind::forward, place, step.microbatch);
  }

  [[nodiscard]] std::int64_t time_of(Kind kind) const {
    switch (kind) {
      case Kind::forward:
        return times_.forward;
      case Kind::backward:
        return times_.input_gradient + times_.weight_gradient;
      case Kind::input_gradient:
        return times_.input_gradient;
      case Kind::weight_gradient:
        return times_.weight_gradient;
      case Kind::send_forward:
      case Kind::send_backward:
        break;
    }
    return 0;
  }

  [[nodiscard]] std::size_t index(Kind kind, const PipelinePlace& place, int microbatch) const {
    const int row = (place.stage * shape_.virtual_stages + place.virtual_stage) * 2 +
                    (kind == Kind::backward ? 1 : 0);
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(shape_.microbatches) +
           static_cast<std::size_t>(microbatch);
  }
  [[nodiscard]] std::int64_t end_of(Kind kind, const PipelinePlace& place, int microbatch) const {
    return ends_[index(kind, place, microbatch)];
  }

  const PipelineShape& shape_;
  StepTimes times_;
  std::vector<std::int64_t> ends_;  // by place, kind and microbatch
};

// The steps that a stage does at once, from this one on.
Steps at_once(Steps all, std::size_t first) {
  return all.subspan(first, all[first].overlaps_next ? 2 : 1);
}

// Whether the result of this forward or backward goes to another stage.
bool is_sent(const PipelineShape& shape, const PipelineStep& step) {
  if (step.kind == Kind::weight_gradient) return false;
  const auto next = step.kind == Kind::forward ? place_behind(shape, place_of(step))
                                               : place_before(shape, place_of(step));
  return next && next->stage != step.stage;
}

}  // namespace

std::vector<std::vector<TimedStep>> timed_steps(const PipelineShape& shape,
                                                const StepTimes& times) {
  std::vector<std::vector<PipelineStep>> todo;
  todo.reserve(static_cast<std::size_t>(shape.stages));
  for (int stage = 0; stage < shape.stages; ++stage) todo.push_back(steps_of(shape, stage));
  std::vector<std::vector<TimedStep>> done(todo.size());
  Clock clock(shape, times);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < todo.size(); ++s) {
      for (; done[s].size() < todo[s].size(); moved = true) {
        const Steps steps = at_once(todo[s], done[s].size());
        const auto arrives = clock.arrival(steps);
        if (!arrives) break;
        const std::int64_t start = std::max(done[s].empty() ? 0 : done[s].back().end, *arrives);
        const std::int64_t end = start + clock.time_of(steps);
        for (const PipelineStep& step : steps) {
          clock.ends(step, end);
          done[s].push_back({start, end, step});
        }
      }
    }
  }
  for (std::size_t s = 0; s < todo.size(); ++s) SIM_ASSERT(done[s].size() == todo[s].size());
  return done;
}

namespace {

// Of a send.
PipelinePlace receiver_of(const PipelineShape& shape, const PipelineStep& step) {
  const bool ahead = step.kind == Kind::send_forward;
  return ahead ? *place_behind(shape, place_of(step)) : *place_before(shape, place_of(step));
}

PipelineStep send_of(const PipelineStep& step) {
  PipelineStep send = step;
  send.kind = step.kind == Kind::forward ? Kind::send_forward : Kind::send_backward;
  return send;
}

std::vector<PipelineStep> in_time(const PipelineShape& shape) {
  std::vector<TimedStep> all;
  for (const std::vector<TimedStep>& steps : timed_steps(shape, {})) {
    for (const TimedStep& timed : steps) {
      all.push_back(timed);
      if (!is_sent(shape, timed.step)) continue;
      all.push_back({.start = timed.end, .end = timed.end, .step = send_of(timed.step)});
    }
  }
  // Sends come first: their receivers begin at the same instant.
  std::stable_sort(all.begin(), all.end(), [](const TimedStep& a, const TimedStep& b) {
    const auto key = [](const TimedStep& timed) {
      return std::tuple(timed.start, computes(timed.step.kind), timed.step.stage);
    };
    return key(a) < key(b);
  });
  std::vector<PipelineStep> order;
  order.reserve(all.size());
  for (const TimedStep& timed : all) order.push_back(timed.step);
  return order;
}

// Stages in turn, a step each (or two at once) if it has its input.
std::vector<PipelineStep> in_turns(const PipelineShape& shape) {
  std::vector<std::vector<PipelineStep>> todo;
  todo.reserve(static_cast<std::size_t>(shape.stages));
  for (int stage = 0; stage < shape.stages; ++stage) todo.push_back(steps_of(shape, stage));
  std::vector<std::size_t> next(todo.size());
  Clock clock(shape, {});
  std::vector<PipelineStep> order;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < todo.size(); ++s) {
      if (next[s] == todo[s].size()) continue;
      const Steps steps = at_once(todo[s], next[s]);
      if (!clock.arrival(steps)) continue;
      for (const PipelineStep& step : steps) clock.ends(step, 0);
      order.insert(order.end(), steps.begin(), steps.end());
      for (const PipelineStep& step : steps) {
        if (is_sent(shape, step)) order.push_back(send_of(step));
      }
      next[s] += steps.size();
      moved = true;
    }
  }
  for (std::size_t s = 0; s < todo.size(); ++s) SIM_ASSERT(next[s] == todo[s].size());
  return order;
}

// A send or receive that is posted at `from` and begins at `until`, when the other side is there.
struct Posted {
  int other_stage = 0;
  std::int64_t from = 0;
  std::int64_t until = 0;
};

// By stage: when its steps run, and what is posted meanwhile.
struct Timetable {
  std::vector<std::vector<TimedStep>> steps;
  std::vector<std::vector<Posted>> posted;
};

// Where sends do not wait: receives alone are posted early, after what their stage has been given.
Timetable free_timetable(const PipelineShape& shape) {
  Timetable table{.steps = timed_steps(shape, {}), .posted = {}};
  table.posted.resize(table.steps.size());
  std::vector<std::size_t> given(table.steps.size());  // steps, by stage
  const auto ended = [&](int stage) -> std::int64_t {
    const auto s = static_cast<std::size_t>(stage);
    return given[s] == 0 ? 0 : table.steps[s][given[s] - 1].end;
  };
  for (const PipelineStep& step : in_turns(shape)) {
    if (computes(step.kind)) {
      ++given[static_cast<std::size_t>(step.stage)];
      continue;
    }
    const int to = receiver_of(shape, step).stage;
    table.posted[static_cast<std::size_t>(to)].push_back(
        {.other_stage = step.stage, .from = ended(to), .until = ended(step.stage)});
  }
  return table;
}

// In turns: each side posts what comes next when it has done what it was given before, steps and
// sends; both go on when both are there.
class InTurns {
 public:
  explicit InTurns(const PipelineShape& shape) : shape_(shape), clock_(shape, {}) {
    const auto stages = static_cast<std::size_t>(shape.stages);
    table_.steps.resize(stages);
    table_.posted.resize(stages);
    met_.resize(stages);
  }

  Timetable timetable() {
    for (const PipelineStep& step : in_turns(shape_)) {
      computes(step.kind) ? compute(step) : send(step);
    }
    return std::move(table_);
  }

 private:
  static std::size_t index(int stage) { return static_cast<std::size_t>(stage); }

  [[nodiscard]] std::int64_t ended(int stage) const {
    const std::vector<TimedStep>& steps = table_.steps[index(stage)];
    return steps.empty() ? 0 : steps.back().end;
  }

  // Of two at once, too, one after the other.
  void compute(const PipelineStep& step) {
    // What gradients of weights need is the stage's own.
    const bool is_own = step.kind == Kind::weight_gradient;
    const Steps one(&step, 1);
    const std::int64_t start = std::max(ended(step.stage), is_own ? 0 : *clock_.arrival(one));
    const std::int64_t end = start + clock_.time_of(one);
    clock_.ends(step, end);
    table_.steps[index(step.stage)].push_back({start, end, step});
  }

  void send(const PipelineStep& step) {
    const int to = receiver_of(shape_, step).stage;
    const std::int64_t here = std::max(met_[index(step.stage)], ended(step.stage));
    const std::int64_t there = std::max(met_[index(to)], ended(to));
    const std::int64_t both = std::max(here, there);
    table_.posted[index(step.stage)].push_back({.other_stage = to, .from = here, .until = both});
    table_.posted[index(to)].push_back({.other_stage = step.stage, .from = there, .until = both});
    met_[index(step.stage)] = met_[index(to)] = both;
    PipelineStep made = step;
    made.kind = step.kind == Kind::send_forward ? Kind::forward : Kind::backward;
    clock_.ends(made, both);  // there
  }

  const PipelineShape& shape_;
  Clock clock_;
  Timetable table_;
  std::vector<std::int64_t> met_;  // the last send or receive, by stage
};

std::vector<std::vector<BesideReceive>> none_waits(const PipelineShape& shape) {
  std::vector<std::vector<BesideReceive>> beside;
  beside.reserve(static_cast<std::size_t>(shape.stages));
  for (int stage = 0; stage < shape.stages; ++stage) {
    beside.emplace_back(steps_of(shape, stage).size());
  }
  return beside;
}

}  // namespace

bool sends_in_turns(const PipelineShape& shape) {
  return shape.sends == SendOrder::in_turns && has_a_choice_of_sends(schedule_row(shape.schedule));
}

std::vector<PipelineStep> pipeline_order(const PipelineShape& shape) {
  return sends_in_turns(shape) ? in_turns(shape) : in_time(shape);
}

std::vector<std::vector<BesideReceive>> steps_beside_receives(const PipelineShape& shape) {
  if (!has_a_choice_of_sends(schedule_row(shape.schedule))) return none_waits(shape);
  const Timetable table =
      sends_in_turns(shape) ? InTurns(shape).timetable() : free_timetable(shape);
  std::vector<std::vector<BesideReceive>> beside;
  beside.reserve(table.steps.size());
  for (const auto& steps : table.steps) beside.emplace_back(steps.size());
  for (std::size_t s = 0; s < table.posted.size(); ++s) {
    const std::vector<TimedStep>& steps = table.steps[s];
    for (const Posted& posted : table.posted[s]) {
      const auto first =
          std::lower_bound(steps.begin(), steps.end(), posted.from,
                           [](const TimedStep& a, std::int64_t b) { return a.start < b; });
      for (auto i = static_cast<std::size_t>(first - steps.begin()); i < steps.size(); ++i) {
        if (steps[i].start >= posted.until) break;
        const std::int64_t both = std::min(steps[i].end, posted.until) - steps[i].start;
        if (both <= beside[s][i].waits) continue;
        beside[s][i] = {
            .from_stage = posted.other_stage, .waits = both, .of = steps[i].end - steps[i].start};
      }
    }
  }
  return beside;
}

}  // namespace weft
