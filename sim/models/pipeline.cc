#include "sim/models/pipeline.h"

#include <algorithm>
#include <tuple>

#include "sim/core/assert.h"

namespace weft {
namespace {

using Kind = PipelineStep::Kind;
constexpr std::int64_t kUnknown = -1;

bool computes(Kind kind) { return kind == Kind::forward || kind == Kind::backward; }

// What one stage does, in order.
std::vector<PipelineStep> steps_of(const PipelineShape& shape, int stage) {
  const int warm_up =
      shape.trains ? std::min(shape.microbatches, shape.stages - 1 - stage) : shape.microbatches;
  std::vector<PipelineStep> steps;
  steps.reserve(2 * static_cast<std::size_t>(shape.microbatches));
  for (int m = 0; m < warm_up; ++m) steps.push_back({Kind::forward, stage, m});
  if (!shape.trains) return steps;
  for (int m = warm_up; m < shape.microbatches; ++m) {
    steps.push_back({Kind::forward, stage, m});
    steps.push_back({Kind::backward, stage, m - warm_up});
  }
  for (int m = shape.microbatches - warm_up; m < shape.microbatches; ++m) {
    steps.push_back({Kind::backward, stage, m});
  }
  return steps;
}

// When each forward and backward ends.
class Clock {
 public:
  explicit Clock(const PipelineShape& shape)
      : shape_(shape),
        ends_(static_cast<std::size_t>(shape.stages) *
                  static_cast<std::size_t>(shape.microbatches) * 2,
              kUnknown) {}

  std::int64_t& end_of(const PipelineStep& step) {
    const auto row =
        static_cast<std::size_t>(step.stage) * 2 + (step.kind == Kind::backward ? 1U : 0U);
    return ends_[row * static_cast<std::size_t>(shape_.microbatches) +
                 static_cast<std::size_t>(step.microbatch)];
  }

  // When what this step waits for has come from the other stage; kUnknown: not decided yet.
  std::int64_t arrival(const PipelineStep& step) {
    PipelineStep before = step;
    before.stage += step.kind == Kind::forward ? -1 : 1;
    if (before.stage < 0 || before.stage == shape_.stages) return 0;
    return end_of(before);
  }

 private:
  PipelineShape shape_;
  std::vector<std::int64_t> ends_;
};

struct Timed {
  std::int64_t at;
  PipelineStep step;
};

}  // namespace

std::vector<PipelineStep> pipeline_order(const PipelineShape& shape) {
  std::vector<std::vector<PipelineStep>> todo;
  todo.reserve(static_cast<std::size_t>(shape.stages));
  for (int stage = 0; stage < shape.stages; ++stage) todo.push_back(steps_of(shape, stage));
  Clock clock(shape);
  std::vector<std::size_t> done(todo.size(), 0);
  std::vector<std::int64_t> free_at(todo.size(), 0);
  std::vector<Timed> all;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < todo.size(); ++s) {
      for (; done[s] < todo[s].size(); ++done[s], moved = true) {
        const PipelineStep& step = todo[s][done[s]];
        const std::int64_t arrives = clock.arrival(step);
        if (arrives == kUnknown) break;
        const std::int64_t start = std::max(free_at[s], arrives);
        free_at[s] = start + (step.kind == Kind::forward ? 1 : 2);
        clock.end_of(step) = free_at[s];
        all.push_back({start, step});
        const bool ahead = step.kind == Kind::forward;
        const bool sends = ahead ? step.stage + 1 < shape.stages : step.stage > 0;
        if (!sends) continue;
        all.push_back(
            {free_at[s],
             {ahead ? Kind::send_forward : Kind::send_backward, step.stage, step.microbatch}});
      }
    }
  }
  // Sends first: at that instant their receivers begin.
  std::stable_sort(all.begin(), all.end(), [](const Timed& a, const Timed& b) {
    const auto key = [](const Timed& timed) {
      return std::tuple(timed.at, computes(timed.step.kind), timed.step.stage);
    };
    return key(a) < key(b);
  });
  std::vector<PipelineStep> order;
  order.reserve(all.size());
  for (const Timed& timed : all) order.push_back(timed.step);
  for (std::size_t s = 0; s < todo.size(); ++s) SIM_ASSERT(done[s] == todo[s].size());
  return order;
}

}  // namespace weft
