#include <cmath>

#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

// 256 threads keep 4 loads of 16 B in flight, where a line does not say otherwise.
double in_flight(const MeasuredLine& line) {
  return static_cast<double>(line.number("bytes_in_flight").value_or(std::int64_t{256} * 4 * 16));
}

}  // namespace

// docs/model.md, "Memory": n WGs draw n x (in flight / latency), bent near the bandwidth.
void fit_memory(FitRun& run) {
  const LineRefs lines = run.lines("micro.hbm_read", {"wgs", "bytes"});
  if (lines.size() < 4) {
    return run.keep("memory.bandwidth, memory.latency, memory.bend",
                    "micro.hbm_read by few and by many WGs");
  }
  const double overhead = run.overhead_us();
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      const double demand = static_cast<double>(*line->number("wgs")) * in_flight(*line) / p[1];
      const double rate = demand * std::pow(1 + std::pow(demand / p[0], p[2]), -1 / p[2]);
      times.push_back(overhead + static_cast<double>(*line->number("bytes")) / rate);
    }
    return times;
  };
  MemorySpec& memory = run.gpu().memory;
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
