#include <algorithm>
#include <cmath>

#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

constexpr std::int64_t kThreads = 256;    // of a WG, where a line does not say it
constexpr std::int64_t kStreamLoads = 4;  // of hbm_read and l2_read, that a thread has in flight

double real(std::int64_t count) { return static_cast<double>(count); }

const MeasuredLine* with_fewest_wgs(const LineRefs& lines) {
  return *std::min_element(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
    return *a->number("wgs") < *b->number("wgs");
  });
}

double around(const FitRun& run) {
  return run.overhead_us() + to_microseconds(run.gpu().launch.ramp);
}

// Whether all WGs together ask for so much more than there is that their own latency is gone.
constexpr double kCrowded = 2;

// docs/model.md, "Memory": n WGs draw n x (in flight / latency), bent near the bandwidth. The
// latency, the second parameter, is that of four loads: one load's and two doublings.
Solution fit_streams(FitRun& run, const LineRefs& lines) {
  MemorySpec& memory = run.gpu().memory;
  const double overhead = around(run);
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      const double demand =
          real(*line->number("wgs") * kThreads * kStreamLoads * kLoadBytes) / p[1];
      times.push_back(overhead +
                      real(*line->number("bytes")) / demand * crowding(demand / p[0], p[2]));
    }
    return times;
  };
  // Where the lines themselves say that it begins, whatever the base has: the fastest is near the
  // bandwidth, the one of fewest WGs waits for little but its own latency.
  double fastest = 0;
  for (const MeasuredLine* line : lines) {
    fastest = std::max(fastest, real(*line->number("bytes")) / beyond(*line, overhead));
  }
  const MeasuredLine& few = *with_fewest_wgs(lines);
  const double latency = real(*few.number("wgs") * kThreads * kStreamLoads * kLoadBytes) *
                         beyond(few, overhead) / real(*few.number("bytes"));
  constexpr double kBend = 2.5;
  Solution found = least_squares(times_of(lines), {fastest, latency, kBend}, model);
  const std::string from = from_text("hbm_read", lines);
  memory.bandwidth =
      run.note("memory.bandwidth", from_bytes_a_us(found.parameters[0]), from, found.worst);
  memory.bend = run.note("memory.bend", found.parameters[2], from, found.worst);
  return found;
}

// What each doubling adds is as long on every line; the first load's latency is these lines' own,
// and near that of `four_us` for four loads.
void fit_doubling(FitRun& run, double four_us) {
  constexpr const char* kWants = "micro.wg_in_flight of 1, 2 and 4 loads";
  LineRefs lines = run.lines("micro.wg_in_flight", {"wgs", "threads", "loads", "bytes"});
  constexpr std::int64_t kMostInFlight = 16 * 1024;  // of a WG: beyond it its CU holds it up
  std::erase_if(lines, [](const MeasuredLine* line) {
    const std::int64_t loads = *line->number("loads");
    return loads > kStreamLoads || loads * *line->number("threads") * kLoadBytes > kMostInFlight;
  });
  if (!differ(lines, "loads")) return run.keep("memory.doubling", kWants);
  MemorySpec& memory = run.gpu().memory;
  const double overhead = around(run);
  const double rate = bytes_a_us(memory.bandwidth);
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      const std::int64_t loads = *line->number("loads");
      const double demand =
          real(*line->number("wgs") * *line->number("threads") * loads * kLoadBytes) /
          (p[0] + p[1] * std::log2(loads));
      times.push_back(overhead +
                      real(*line->number("bytes")) / demand * crowding(demand / rate, memory.bend));
    }
    return times;
  };
  const double start = std::max(0.01, to_microseconds(memory.doubling));
  const Solution found = least_squares(times_of(lines), {four_us, start}, model);
  memory.doubling = run.note("memory.doubling", from_us(found.parameters[1]),
                             from_text("wg_in_flight", lines), found.worst);
}

// A copy's writes are posted: they take of the bandwidth, and nobody waits for them. Where many
// WGs copy, what the reads leave is theirs.
void fit_write_cost(FitRun& run) {
  MemorySpec& memory = run.gpu().memory;
  const double rate = bytes_a_us(memory.bandwidth);
  const double of_wg = real(kThreads * kLoadBytes) / to_microseconds(memory.latency);
  LineRefs lines = run.lines("micro.hbm_copy", {"wgs", "bytes"});
  const auto demand = [&](const MeasuredLine& line, double cost) {
    return (1 + cost) * real(*line.number("wgs")) * of_wg / rate;
  };
  std::erase_if(lines, [&](const MeasuredLine* line) { return demand(*line, 1) < kCrowded; });
  if (lines.empty()) {
    return run.keep("memory.write_cost", "micro.hbm_copy by many WGs, with hbm_read,");
  }
  const double overhead = around(run);
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      const double alone = real(*line->number("bytes")) / real(*line->number("wgs")) / of_wg;
      times.push_back(overhead + alone * crowding(demand(*line, p[0]), memory.bend));
    }
    return times;
  };
  const Solution found = least_squares(times_of(lines), {memory.write_cost}, model);
  memory.write_cost =
      run.note("memory.write_cost", found.parameters[0], from_text("hbm_copy", lines), found.worst);
}

}  // namespace

void fit_memory(FitRun& run) {
  const LineRefs lines = run.lines("micro.hbm_read", {"wgs", "bytes"});
  if (lines.size() < 4) {
    return run.keep("memory.bandwidth, memory.latency, memory.bend, memory.doubling, write_cost",
                    "micro.hbm_read by few and by many WGs, with wg_in_flight and hbm_copy,");
  }
  MemorySpec& memory = run.gpu().memory;
  const Solution of_four = fit_streams(run, lines);
  fit_doubling(run, of_four.parameters[1]);
  const double more = to_microseconds(memory.doubling) * std::log2(kStreamLoads);
  memory.latency = run.note("memory.latency", from_us(of_four.parameters[1] - more),
                            from_text("hbm_read", lines) + " less two doublings", of_four.worst);
  fit_write_cost(run);
}

// Many WGs that read again and again what the L2 keeps.
void fit_l2(FitRun& run) {
  L2Spec& l2 = run.gpu().l2;
  LineRefs lines = run.lines("micro.l2_read", {"wgs", "buffer_bytes", "bytes"});
  const double of_wg =
      real(kThreads * kStreamLoads * kLoadBytes) / std::max(1e-3, to_microseconds(l2.latency));
  const auto demand = [&](const MeasuredLine& line) { return real(*line.number("wgs")) * of_wg; };
  const double kept = real(kept_in_l2(run.gpu()));
  // A first guess of the bandwidth tells which lines ask for more than it.
  double most = 0;
  for (const MeasuredLine* line : lines) {
    most = std::max(most, real(*line->number("bytes")) / line->us);
  }
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return real(*line->number("buffer_bytes")) > kept || demand(*line) < kCrowded * most;
  });
  if (lines.empty()) {
    return run.keep("l2.bandwidth", "micro.l2_read by many WGs of what the L2 keeps");
  }
  const double overhead = around(run);
  const double bend = run.gpu().memory.bend;
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      times.push_back(overhead + real(*line->number("bytes")) / demand(*line) *
                                     crowding(demand(*line) / p[0], bend));
    }
    return times;
  };
  const Solution found = least_squares(times_of(lines), {most}, model);
  l2.bandwidth = run.note("l2.bandwidth", from_bytes_a_us(found.parameters[0]),
                          from_text("l2_read", lines), found.worst);
}

}  // namespace weft
