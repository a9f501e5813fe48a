#include <algorithm>

#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

// clock + n x step: a row of n kernels in one queue.
struct Row {
  double clock_us = 0;
  double step_us = 0;
  double worst = 0;
};
Row fit_row(const LineRefs& lines) {
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      times.push_back(p[0] + p[1] * static_cast<double>(*line->number("n")));
    }
    return times;
  };
  const Solution found = least_squares(times_of(lines), {3, 1.5}, model);
  return {.clock_us = found.parameters[0], .step_us = found.parameters[1], .worst = found.worst};
}

// A row of kernels, each with a WG on every place of the GPU.
void fit_wg_interval(FitRun& run) {
  const LineRefs full = run.lines("micro.empty_kernel_full", {"n"});
  if (full.empty()) return run.keep("launch.wg_interval", "micro.empty_kernel_full");
  const GpuSpec& gpu = run.gpu();
  constexpr int kThreads = 256;  // of a WG
  const int waves_of_wg = std::max(1, kThreads / gpu.wave_size);
  double sum = 0;
  for (const MeasuredLine* line : full) {
    const auto n = static_cast<double>(*line->number("n"));
    const std::int64_t places = std::int64_t{gpu.cu.waves / waves_of_wg} * gpu.cus;
    const auto wgs = static_cast<double>(line->number("wgs").value_or(places));
    sum +=
        ((line->us - to_microseconds(gpu.launch.clock)) / n - to_microseconds(gpu.launch.queue)) /
        (wgs - 1);
  }
  run.gpu().launch.wg_interval =
      run.note("launch.wg_interval", from_us(sum / static_cast<double>(full.size())),
               from_text("empty_kernel_full", full), 0);
}

// A kernel of one WG a CU that does n steps, all alike: what is left at none, less what an empty
// one of as many WGs takes.
void fit_ramp(FitRun& run) {
  LineRefs lines = run.lines("micro.chase", {"wgs", "in_flight", "steps", "table_bytes"});
  std::int64_t nearest = kept_in_l2(run.gpu());
  for (const MeasuredLine* line : lines) {
    nearest = std::min(nearest, *line->number("table_bytes"));
  }
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return *line->number("wgs") != run.gpu().cus || *line->number("in_flight") > 1 ||
           *line->number("table_bytes") > nearest;
  });
  if (!differ(lines, "steps")) {
    return run.keep("launch.ramp", "micro.chase by one WG a CU, of few and of many steps,");
  }
  const double overhead =
      run.overhead_us() + to_microseconds(run.gpu().launch.wg_interval * (run.gpu().cus - 1));
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    times.reserve(lines.size());
    for (const MeasuredLine* line : lines) {
      times.push_back(overhead + p[0] + p[1] * static_cast<double>(*line->number("steps")));
    }
    return times;
  };
  const Solution found = least_squares(times_of(lines), {1, 0.3}, model);
  run.gpu().launch.ramp =
      run.note("launch.ramp", from_us(found.parameters[0]), from_text("chase", lines), found.worst);
}

}  // namespace

void fit_launch(FitRun& run) {
  const LineRefs rows = run.lines("micro.empty_kernel", {"n"});
  if (rows.size() < 2) {
    run.keep("launch.queue, launch.clock", "micro.empty_kernel of two lengths");
  } else {
    const Row row = fit_row(rows);
    const std::string from = from_text("empty_kernel", rows);
    run.gpu().launch.queue = run.note("launch.queue", from_us(row.step_us), from, row.worst);
    run.gpu().launch.clock = run.note("launch.clock", from_us(row.clock_us), from, row.worst);
  }
  const LineRefs graphs = run.lines("micro.empty_kernel_graph", {"n"});
  if (graphs.size() < 2) {
    run.keep("launch.graph", "micro.empty_kernel_graph of two lengths");
  } else {
    const Row row = fit_row(graphs);
    run.gpu().launch.graph = run.note("launch.graph", from_us(row.step_us),
                                      from_text("empty_kernel_graph", graphs), row.worst);
  }
  fit_wg_interval(run);
  fit_ramp(run);
}

}  // namespace weft
