#include "sim/models/pace.h"

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

__extension__ using SignedWide = __int128;

std::int64_t times(std::int64_t amount, std::int64_t numerator, std::int64_t denominator) {
  return static_cast<std::int64_t>(static_cast<SignedWide>(amount) * numerator / denominator);
}

// When something begins to be beside a run, or is no longer.
struct Edge {
  Duration at;
  Slowdown more = 0;
};

std::vector<Edge> edges_of(const std::vector<Beside>& beside) {
  std::vector<Edge> edges;
  for (const Beside& other : beside) {
    if (other.until <= Duration{} || other.from >= other.until) continue;
    edges.push_back({longer(other.from, Duration{}), other.slowdown - kAsAlone});
    edges.push_back({other.until, kAsAlone - other.slowdown});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.at < b.at; });
  return edges;
}

// Scales durations so that those whose sums are equal have equal sums again.
class Scale {
 public:
  Scale(Duration alone, Duration now) : alone_(alone.count()), now_(now.count()) {}

  Duration of(Duration alone) {
    const std::int64_t before = scaled_;
    sum_ += alone.count();
    scaled_ = times(sum_, now_, alone_);
    return picoseconds(scaled_ - before);
  }

 private:
  std::int64_t alone_;
  std::int64_t now_;
  std::int64_t sum_ = 0;
  std::int64_t scaled_ = 0;
};

void slow_gpus(RunResult& run, const Pace& pace, const Scale& scale) {
  Scale computing = scale;
  Scale exposed = scale;
  for (GpuUse& gpu : run.gpus) {
    const Duration bare = exposed.of(run.exposed(gpu));
    gpu.computing = computing.of(gpu.computing);
    gpu.active = gpu.computing + bare;
    gpu.end = SimTime{} + pace.after(gpu.end - SimTime{});
  }
}

void slow_operators(RunResult& run, const Pace& pace, const Scale& scale) {
  Scale exposed = scale;
  Scale critical = scale;
  for (OperatorUse& use : run.operators) {
    use.exposed = exposed.of(use.exposed);
    use.critical = critical.of(use.critical);
    if (use.kernels == 0) continue;
    use.longest = Scale(scale).of(use.longest);
    use.sum = Scale(scale).of(use.sum);
    for (SimTime* at : {&use.first_start, &use.first_place, &use.last_end}) {
      if (at->count() < INT64_MAX) *at = SimTime{} + pace.after(*at - SimTime{});
    }
  }
  run.path_gaps = critical.of(run.path_gaps);
}

}  // namespace

// Its path takes the time until its end.
ExitUse at_pace(ExitUse exit, const Pace& pace) {
  if (pace.is_as_alone()) return exit;
  const SimTime end = SimTime{} + pace.after(exit.end - SimTime{});
  const SimTime from = SimTime{} + pace.after(exit.path_from - SimTime{});
  if (exit.end > exit.path_from) {
    Scale scale(exit.end - exit.path_from, end - from);
    for (Duration& part : exit.critical) part = scale.of(part);
    exit.path_gaps = scale.of(exit.path_gaps);
  }
  exit.end = end;
  exit.path_from = from;
  return exit;
}

Pace::Pace(const std::vector<Beside>& beside) {
  // Some are a bit faster beside others, whose waves come to lie otherwise; not all at once.
  constexpr Slowdown kFastest = kAsAlone / 2;
  Change now{.alone = {}, .after = {}, .slowdown = kAsAlone};
  Slowdown sum = kAsAlone;
  for (const Edge& edge : edges_of(beside)) {
    now.alone += picoseconds(times((edge.at - now.after).count(), kAsAlone, now.slowdown));
    now.after = edge.at;
    sum += edge.more;
    now.slowdown = std::max(sum, kFastest);
    if (!changes_.empty() && changes_.back().after == now.after) changes_.pop_back();
    changes_.push_back(now);
  }
  if (!changes_.empty() && changes_.front().after > Duration{}) {
    changes_.insert(changes_.begin(), Change{.alone = {}, .after = {}, .slowdown = kAsAlone});
  }
}

Duration Pace::after(Duration alone) const {
  if (changes_.empty()) return alone;
  const auto next =
      std::upper_bound(changes_.begin(), changes_.end(), alone,
                       [](Duration at, const Change& change) { return at < change.alone; });
  SIM_ASSERT(next != changes_.begin());
  const Change& last = *(next - 1);
  return last.after + picoseconds(times((alone - last.alone).count(), last.slowdown, kAsAlone));
}

RunResult at_pace(RunResult alone, const Pace& pace) {
  const Duration time = pace.after(alone.time);
  if (pace.is_as_alone() || alone.time == Duration{} || time == alone.time) return alone;
  SIM_ASSERT(alone.path_from == SimTime{});  // nothing in it is released later
  const Scale scale(alone.time, time);
  slow_gpus(alone, pace, scale);
  slow_operators(alone, pace, scale);
  Scale computing = scale;
  Scale exposed = scale;
  for (PartUse& part : alone.parts) {
    part.computing = computing.of(part.computing);
    part.exposed = exposed.of(part.exposed);
  }
  for (ExitUse& exit : alone.exits) exit = at_pace(std::move(exit), pace);
  alone.time = time;
  return alone;
}

}  // namespace weft
