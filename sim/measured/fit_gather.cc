#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/gpu_model/gather_law.h"
#include "sim/gpu_model/launch_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

double real(const MeasuredLine& line, const char* name) {
  return static_cast<double>(*line.number(name));
}

// Lines of chases: steps of random rows, each step waiting for all rows of the one before
// (docs/model.md, "Gathers"). Only rows at least as wide as a wave's load: there a wave waits for
// no other row.
LineRefs chases(FitRun& run) {
  LineRefs lines =
      run.lines("micro.chase", {"wgs", "in_flight", "steps", "row_bytes", "table_bytes"});
  const double least = static_cast<double>(run.gpu().wave_size * kLoadBytes);
  std::erase_if(lines, [&](const MeasuredLine* line) { return real(*line, "row_bytes") < least; });
  return lines;
}

ChaseKernel kernel_of(const MeasuredLine& line, const RowsFound& found) {
  return {.wgs = *line.number("wgs"),
          .threads = kThreads,
          .in_flight = real(line, "in_flight"),
          .steps = *line.number("steps"),
          .found = found};
}

double chased(const GpuSpec& gpu, const MeasuredLine& line, const RowsFound& found) {
  return measured_work_seconds(gpu.launch, chase_seconds(gpu, kernel_of(line, found)));
}

// Whether the rows are spread over so much memory that hardly any are found in the L2, and more is
// read than a run could leave there for the next one.
bool is_far(const FitRun& run, const MeasuredLine& line) {
  constexpr double kFar = 16;
  const auto l2 = static_cast<double>(run.gpu().l2.capacity.count());
  return real(line, "table_bytes") >= kFar * l2 &&
         bytes_of_step(kernel_of(line, {})) * real(line, "steps") >= 2 * l2;
}

// What all WGs together would draw if none slowed another, as a share of the memory's bandwidth.
double demand(const FitRun& run, const MeasuredLine& line, Duration step) {
  return memory_demand(run.gpu(), bytes_of_step(kernel_of(line, {})), step);
}

// The shortest measured step with this many rows in flight: that with the least contention.
double shortest_step(const FitRun& run, const LineRefs& lines, std::int64_t in_flight) {
  double least = std::numeric_limits<double>::infinity();
  for (const MeasuredLine* line : lines) {
    if (*line->number("in_flight") != in_flight) continue;
    least = std::min(least, beyond(*line, run.overhead_us()) / real(*line, "steps"));
  }
  return least;
}

void fit_cached(FitRun& run) {
  LineRefs lines = chases(run);
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return *line->number("in_flight") > 1 ||
           *line->number("table_bytes") > kept_on_a_die(run.gpu().l2).count() * 3 / 4;
  });
  if (lines.empty()) {
    return run.keep("gather.cached",
                    "micro.chase of one row in flight, of a table that the L2 keeps");
  }
  const double start = std::max(0.01, to_microseconds(run.gpu().gather.cached));
  const Solution found = run.solve(
      lines, {{start, [](GpuSpec& gpu, double p) { gpu.gather.cached = from_us(p); }}},
      [](const GpuSpec& gpu, const MeasuredLine& line) { return chased(gpu, line, {.in_l2 = 1}); });
  run.gpu().gather.cached =
      run.note("gather.cached", from_us(found.parameters[0]), from_text("chase", lines),
               how_sure(found, 0, {"gather.cached"}));
}

void fit_missed(FitRun& run, const LineRefs& far) {
  GatherSpec& gather = run.gpu().gather;
  LineRefs lines = far;
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return demand(run, *line, from_us(shortest_step(run, far, *line->number("in_flight")))) > 1;
  });
  if (!differ(lines, "in_flight")) {
    return run.keep("gather.latency, gather.doubling",
                    "micro.chase of 1, 2 and 4 rows in flight, of a table far larger than the L2,");
  }
  const double shortest = shortest_step(run, far, *lines.front()->number("in_flight"));
  const double doubling = std::max(0.01, to_microseconds(gather.doubling));
  const Solution found =
      run.solve(lines,
                {{shortest, [](GpuSpec& gpu, double p) { gpu.gather.latency = from_us(p); }},
                 {doubling, [](GpuSpec& gpu, double p) { gpu.gather.doubling = from_us(p); }}},
                [](const GpuSpec& gpu, const MeasuredLine& line) { return chased(gpu, line, {}); });
  const std::string from = from_text("chase", lines);
  const std::vector<std::string> paths{"gather.latency", "gather.doubling"};
  gather.latency =
      run.note("gather.latency", from_us(found.parameters[0]), from, how_sure(found, 0, paths));
  gather.doubling =
      run.note("gather.doubling", from_us(found.parameters[1]), from, how_sure(found, 1, paths));
}

// Spreads grow linearly with uneven demand: fits the slope.
void fit_unfairness(FitRun& run, LineRefs lines) {
  GatherSpec& gather = run.gpu().gather;
  const auto demand_of = [&](const MeasuredLine& line) {
    return demand(run, line, gather_latency(run.gpu(), real(line, "in_flight"), {}));
  };
  const auto above = [&](const MeasuredLine& line) { return uneven_demand(demand_of(line)); };
  constexpr double kClearly = 0.5;  // above this, chance is a small part of the spread
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return !line->number("spread_ppm") || above(*line) < kClearly;
  });
  if (lines.empty()) {
    return run.keep("gather.unfairness",
                    "micro.chase by so many WGs that they request "
                    "over twice the memory's bandwidth");
  }
  double product = 0;
  double square = 0;
  for (const MeasuredLine* line : lines) {
    product += above(*line) * real(*line, "spread_ppm") * 1e-6;
    square += above(*line) * above(*line);
  }
  gather.unfairness = product / square;
  double squares_off = 0;
  for (const MeasuredLine* line : lines) {
    const double off = real(*line, "spread_ppm") * 1e-6 - gather.unfairness * above(*line);
    squares_off += off * off;
  }
  double worst = 0;  // of the spread, which is a fraction itself
  for (const MeasuredLine* line : lines) {
    const double spread = unevenness(run.gpu(), demand_of(*line));
    worst = std::max(worst, std::abs(spread - real(*line, "spread_ppm") * 1e-6));
  }
  HowSure sure(worst);
  if (lines.size() > 1 && gather.unfairness > 0) {
    const double variance = squares_off / static_cast<double>(lines.size() - 1) / square;
    sure.spread = std::sqrt(variance) / gather.unfairness;
  }
  gather.unfairness = run.note("gather.unfairness", gather.unfairness,
                               from_text("spread_ppm of chase", lines), sure);
}

}  // namespace

void fit_gather(FitRun& run) {
  fit_cached(run);
  LineRefs far = chases(run);
  std::erase_if(far, [&](const MeasuredLine* line) { return !is_far(run, *line); });
  fit_missed(run, far);
  fit_unfairness(run, far);
}

}  // namespace weft
