#include <cmath>

#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

constexpr int kLoads = 4;  // of 16 B, that each of a WG's 256 threads keeps in flight
constexpr double kInFlight = 256 * kLoads * 16;

}  // namespace

// docs/model.md, "Memory": n WGs draw n x (in flight / latency), bent near the bandwidth. The
// latency is that of four loads: one load's and two doublings.
void fit_memory(FitRun& run) {
  const LineRefs lines = run.lines("micro.hbm_read", {"wgs", "bytes"});
  if (lines.size() < 4) {
    return run.keep("memory.bandwidth, memory.latency, memory.bend",
                    "micro.hbm_read by few and by many WGs");
  }
  MemorySpec& memory = run.gpu().memory;
  const double overhead = run.overhead_us() + to_microseconds(run.gpu().launch.ramp);
  // The lines tell what four loads wait for, not what each doubling adds to one.
  const double more = to_microseconds(memory.doubling) * std::log2(kLoads);
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      const double demand = static_cast<double>(*line->number("wgs")) * kInFlight / (p[1] + more);
      const double rate = demand * std::pow(1 + std::pow(demand / p[0], p[2]), -1 / p[2]);
      times.push_back(overhead + static_cast<double>(*line->number("bytes")) / rate);
    }
    return times;
  };
  const Solution found = least_squares(
      times_of(lines), {bytes_a_us(memory.bandwidth), to_microseconds(memory.latency), memory.bend},
      model);
  const std::string from = from_text("hbm_read", lines);
  memory.bandwidth =
      run.note("memory.bandwidth", from_bytes_a_us(found.parameters[0]), from, found.worst);
  memory.latency = run.note("memory.latency", from_us(found.parameters[1]), from, found.worst);
  memory.bend = run.note("memory.bend", found.parameters[2], from, found.worst);
}

}  // namespace weft
