#include "sim/models/pace.h"

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

__extension__ using SignedWide = __int128;

// Stays at the largest value.
std::int64_t times(std::int64_t amount, std::int64_t numerator, std::int64_t denominator) {
  const SignedWide product = static_cast<SignedWide>(amount) * numerator / denominator;
  return static_cast<std::int64_t>(std::min<SignedWide>(product, INT64_MAX));
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

// Scales durations so that those whose sums are equal have equal sums again. Sums over very many
// GPUs stay at the largest value.
class Scale {
 public:
  // What took `alone` takes `now`.
  Scale(Duration alone, Duration now) : alone_(alone.count()), now_(now.count()) {}

  Duration of(Duration alone) {
    const std::int64_t before = scaled_;
    add_saturating(sum_, alone.count());
    scaled_ = alone_ == 0 ? sum_ : times(sum_, now_, alone_);
    return picoseconds(scaled_ - before);
  }

 private:
  std::int64_t alone_;
  std::int64_t now_;
  std::int64_t sum_ = 0;
  std::int64_t scaled_ = 0;
};

// Of all GPUs.
struct Used {
  Duration computing;
  Duration exposed;
};
Used used_in(const RunResult& run) {
  Used used;
  for (const GpuUse& gpu : run.gpus) {
    add_saturating(used.computing, gpu.computing);
    add_saturating(used.exposed, run.exposed(gpu));
  }
  return used;
}

// Each by as much as it ends later: one that has ended before it was slowed has the times it had.
void slow_gpus(RunResult& run, const Pace& pace) {
  for (GpuUse& gpu : run.gpus) {
    const Duration end = pace.after(gpu.end - SimTime{});
    const Duration exposed = run.exposed(gpu);
    Scale scale(gpu.end - SimTime{}, end);
    gpu.computing = scale.of(gpu.computing);
    gpu.active = gpu.computing + scale.of(exposed);
    gpu.end = SimTime{} + end;
  }
}

void slow_operators(RunResult& run, const Pace& pace, const Scale& time, Scale exposed) {
  Scale critical = time;
  for (OperatorUse& use : run.operators) {
    use.exposed = exposed.of(use.exposed);
    use.critical = critical.of(use.critical);
    if (use.kernels == 0) continue;
    use.longest = Scale(time).of(use.longest);
    use.sum = Scale(time).of(use.sum);
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
  const Used before = used_in(alone);
  slow_gpus(alone, pace);
  const Used now = used_in(alone);
  Scale computing(before.computing, now.computing);
  Scale exposed(before.exposed, now.exposed);
  slow_operators(alone, pace, Scale(alone.time, time), exposed);
  for (PartUse& part : alone.parts) {
    part.computing = computing.of(part.computing);
    part.exposed = exposed.of(part.exposed);
  }
  for (ExitUse& exit : alone.exits) exit = at_pace(std::move(exit), pace);
  alone.time = time;
  return alone;
}

}  // namespace weft
