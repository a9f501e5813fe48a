#include <algorithm>
#include <cmath>

#include "sim/gpu_model/launch_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

constexpr int kStreamLoads = 4;  // in flight per thread of hbm_read and l2_read

double real(std::int64_t count) { return static_cast<double>(count); }

const MeasuredLine* with_fewest_wgs(const LineRefs& lines) {
  return *std::min_element(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
    return *a->number("wgs") < *b->number("wgs");
  });
}

double around(const FitRun& run) {
  return run.overhead_us() + to_microseconds(run.gpu().launch.ramp);
}

// If all WGs together demand this many times the bandwidth, their own latency no longer matters.
constexpr double kCrowded = 2;

StreamKernel reader(const MeasuredLine& line, std::int64_t threads, std::int64_t loads) {
  StreamKernel kernel{.wgs = *line.number("wgs"), .wg = {}, .read = *line.number("bytes")};
  kernel.wg.threads = static_cast<int>(threads);
  kernel.wg.loads_in_flight = static_cast<int>(loads);
  return kernel;
}

// Bytes that all WGs of a kernel have in flight.
double in_flight(const StreamKernel& kernel) {
  return real(kernel.wgs) * real(bytes_in_flight(kernel.wg));
}

double read_seconds(const GpuSpec& gpu, const StreamKernel& kernel) {
  return measured_work_seconds(gpu.launch, stream_seconds(gpu, kernel));
}

// The latency of four loads is none of the file's.
const std::vector<std::string> kOfStreams{"memory.bandwidth", "", "memory.bend"};

// The latency, the second parameter, is that of four loads: that of one load plus two doublings.
Solution fit_streams(FitRun& run, const LineRefs& lines) {
  MemorySpec& memory = run.gpu().memory;
  const auto kernel_of = [](const MeasuredLine& line) {
    return reader(line, kThreads, kStreamLoads);
  };
  // The search begins where the lines suggest, whatever the base has: the fastest line is near the
  // bandwidth, and the one with the fewest WGs waits for little but its own latency.
  const double overhead = around(run);
  double fastest = 0;
  for (const MeasuredLine* line : lines) {
    fastest = std::max(fastest, real(*line->number("bytes")) / beyond(*line, overhead));
  }
  const MeasuredLine& few = *with_fewest_wgs(lines);
  const double latency =
      in_flight(kernel_of(few)) * beyond(few, overhead) / real(*few.number("bytes"));
  constexpr double kBend = 2.5;
  Solution found = run.solve(
      lines,
      {{fastest, [](GpuSpec& gpu, double p) { gpu.memory.bandwidth = from_bytes_a_us(p); }},
       {latency,
        [](GpuSpec& gpu, double p) {
          gpu.memory.latency = from_us(p);
          gpu.memory.doubling = {};
        }},
       {kBend, [](GpuSpec& gpu, double p) { gpu.memory.bend = p; }}},
      [&](const GpuSpec& gpu, const MeasuredLine& line) {
        return read_seconds(gpu, kernel_of(line));
      });
  const std::string from = from_text("hbm_read", lines);
  memory.bandwidth = run.note("memory.bandwidth", from_bytes_a_us(found.parameters[0]), from,
                              how_sure(found, 0, kOfStreams));
  memory.bend = run.note("memory.bend", found.parameters[2], from, how_sure(found, 2, kOfStreams));
  return found;
}

// Each doubling adds the same time in every line. The latency of the first load is fitted to these
// lines, too; the search for it begins at `four_us`, that of four loads.
std::optional<Solution> fit_doubling(FitRun& run, double four_us) {
  constexpr const char* kWants = "micro.wg_in_flight of 1, 2 and 4 loads";
  LineRefs lines = run.lines("micro.wg_in_flight", {"wgs", "threads", "loads", "bytes"});
  constexpr std::int64_t kMostInFlight = 16 * 1024;  // per WG: above this its CU is the limit
  std::erase_if(lines, [](const MeasuredLine* line) {
    const std::int64_t loads = *line->number("loads");
    return loads > kStreamLoads || loads * *line->number("threads") * kLoadBytes > kMostInFlight;
  });
  if (!differ(lines, "loads")) {
    run.keep("memory.doubling", kWants);
    return std::nullopt;
  }
  MemorySpec& memory = run.gpu().memory;
  const double start = std::max(0.01, to_microseconds(memory.doubling));
  Solution found = run.solve(
      lines,
      {{four_us, [](GpuSpec& gpu, double p) { gpu.memory.latency = from_us(p); }},
       {start, [](GpuSpec& gpu, double p) { gpu.memory.doubling = from_us(p); }}},
      [](const GpuSpec& gpu, const MeasuredLine& line) {
        return read_seconds(gpu, reader(line, *line.number("threads"), *line.number("loads")));
      });
  memory.doubling =
      run.note("memory.doubling", from_us(found.parameters[1]), from_text("wg_in_flight", lines),
               how_sure(found, 1, {"", "memory.doubling"}));
  return found;
}

// Of one load's latency: that of four less two doublings, which other lines gave.
HowSure sure_of_latency(const Solution& of_four, const std::optional<Solution>& doubling,
                        double latency_us) {
  HowSure sure = how_sure(of_four, 1, kOfStreams);
  if (!sure.spread || latency_us <= 0) return sure;
  const double four_us = *sure.spread * of_four.parameters[1];
  double two_us = 0;
  if (doubling && !doubling->covariance.empty()) {
    two_us = 2 * std::sqrt(doubling->covariance[1][1]) * doubling->parameters[1];
  }
  const double both_us = std::hypot(four_us, two_us);
  sure.spread = both_us / latency_us;
  if (both_us == 0) return sure;
  for (auto& [path, correlation] : sure.with) correlation *= four_us / both_us;
  if (two_us > 0) sure.with.emplace_back("memory.doubling", -two_us / both_us);
  return sure;
}

// A copy's writes are posted: they take bandwidth, and nothing waits for them. If many WGs copy,
// writes take what the reads leave.
void fit_write_cost(FitRun& run) {
  MemorySpec& memory = run.gpu().memory;
  const auto copier = [](const MeasuredLine& line) {
    StreamKernel kernel = reader(line, kThreads, 1);
    kernel.written = kernel.read;
    return kernel;
  };
  LineRefs lines = run.lines("micro.hbm_copy", {"wgs", "bytes"});
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return memory_demand(run.gpu(), 2 * in_flight(copier(*line)), memory.latency) < kCrowded;
  });
  if (lines.empty()) {
    return run.keep("memory.write_cost", "micro.hbm_copy by many WGs, with hbm_read,");
  }
  const Solution found = run.solve(
      lines, {{memory.write_cost, [](GpuSpec& gpu, double p) { gpu.memory.write_cost = p; }}},
      [&](const GpuSpec& gpu, const MeasuredLine& line) {
        return read_seconds(gpu, copier(line));
      });
  memory.write_cost =
      run.note("memory.write_cost", found.parameters[0], from_text("hbm_copy", lines),
               how_sure(found, 0, {"memory.write_cost"}));
}

}  // namespace

void fit_memory(FitRun& run) {
  const LineRefs lines = run.lines("micro.hbm_read", {"wgs", "bytes"});
  if (lines.size() < 4) {
    run.keep("memory.bandwidth, memory.latency, memory.bend, memory.doubling, write_cost",
             "micro.hbm_read by few and by many WGs, with wg_in_flight and hbm_copy,");
    return;
  }
  MemorySpec& memory = run.gpu().memory;
  const Solution of_four = fit_streams(run, lines);
  const std::optional<Solution> doubling = fit_doubling(run, of_four.parameters[1]);
  // The latency of one load with which four loads wait for as long as was found.
  memory.latency = {};
  const double more = to_microseconds(stream_latency(run.gpu(), kStreamLoads));
  const double one_us = of_four.parameters[1] - more;
  memory.latency = run.note("memory.latency", from_us(one_us),
                            from_text("hbm_read", lines) + " less two doublings",
                            sure_of_latency(of_four, doubling, one_us));
  fit_write_cost(run);
}

// From lines of many WGs that repeatedly read what the L2 keeps.
void fit_l2(FitRun& run) {
  L2Spec& l2 = run.gpu().l2;
  const auto kernel_of = [](const MeasuredLine& line) {
    return reader(line, kThreads, kStreamLoads);
  };
  LineRefs lines = run.lines("micro.l2_read", {"wgs", "buffer_bytes", "bytes"});
  const Duration latency = longer(l2.latency, nanoseconds(1));
  const std::int64_t kept = kept_on_a_die(l2).count();
  // A first guess of the bandwidth tells which lines demand more than that.
  double most = 0;
  for (const MeasuredLine* line : lines) {
    most = std::max(most, real(*line->number("bytes")) / line->us);
  }
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return *line->number("buffer_bytes") > kept ||
           asked_rate(in_flight(kernel_of(*line)), latency) * 1e-6 < kCrowded * most;
  });
  if (lines.empty()) {
    return run.keep("l2.bandwidth", "micro.l2_read by many WGs, of a buffer that the L2 keeps");
  }
  const Solution found = run.solve(
      lines, {{most, [](GpuSpec& gpu, double p) { gpu.l2.bandwidth = from_bytes_a_us(p); }}},
      [&](const GpuSpec& gpu, const MeasuredLine& line) {
        return measured_work_seconds(gpu.launch, l2_stream_seconds(gpu, kernel_of(line)));
      });
  l2.bandwidth = run.note("l2.bandwidth", from_bytes_a_us(found.parameters[0]),
                          from_text("l2_read", lines), how_sure(found, 0, {"l2.bandwidth"}));
}

}  // namespace weft
