#include <algorithm>

#include "sim/gpu_model/gather_law.h"
#include "sim/gpu_model/launch_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

// A sequence of n kernels in one queue, or in one graph: the clock's overhead and the gap before
// each kernel.
struct RowTimes {
  double clock_us = 0;
  double gap_us = 0;
  Solution found;
};
RowTimes fit_row(const FitRun& run, const LineRefs& lines) {
  constexpr double kClock = 3;
  constexpr double kGap = 1.5;
  Solution found =
      run.solve(lines,
                {{kClock, [](GpuSpec& gpu, double p) { gpu.launch.clock = from_us(p); }},
                 {kGap, [](GpuSpec& gpu, double p) { gpu.launch.queue = from_us(p); }}},
                [](const GpuSpec& gpu, const MeasuredLine& line) {
                  return measured_row_seconds(gpu.launch, gpu.launch.queue, *line.number("n"), 1);
                });
  const double clock_us = found.parameters[0];
  const double gap_us = found.parameters[1];
  return {.clock_us = clock_us, .gap_us = gap_us, .found = std::move(found)};
}

// From a sequence of kernels, each with a WG in every slot of the GPU.
void fit_wg_interval(FitRun& run) {
  const LineRefs full = run.lines("micro.empty_kernel_full", {"n"});
  if (full.empty()) return run.keep("launch.wg_interval", "micro.empty_kernel_full");
  const GpuSpec& gpu = run.gpu();
  const int waves_of_wg = std::max(1, kThreads / gpu.wave_size);
  const std::int64_t places = std::int64_t{gpu.cu.waves / waves_of_wg} * gpu.cus;
  const FitRun::Even found = run.solve_even(
      full, [](GpuSpec& trial, Duration interval) { trial.launch.wg_interval = interval; },
      [&](const GpuSpec& trial, const MeasuredLine& line) {
        return measured_row_seconds(trial.launch, trial.launch.queue, *line.number("n"),
                                    line.number("wgs").value_or(places));
      });
  run.gpu().launch.wg_interval = run.note("launch.wg_interval", from_us(found.us),
                                          from_text("empty_kernel_full", full), found.sure);
}

// From a kernel with one WG per CU that does n equal steps: what is left at n = 0, minus the time
// of an empty kernel with as many WGs.
void fit_ramp(FitRun& run) {
  LineRefs lines = run.lines("micro.chase", {"wgs", "in_flight", "steps", "table_bytes"});
  std::int64_t nearest = kept_on_a_die(run.gpu().l2).count();
  for (const MeasuredLine* line : lines) {
    nearest = std::min(nearest, *line->number("table_bytes"));
  }
  std::erase_if(lines, [&](const MeasuredLine* line) {
    return *line->number("wgs") != run.gpu().cus || *line->number("in_flight") > 1 ||
           *line->number("table_bytes") > nearest;
  });
  if (!differ(lines, "steps")) {
    return run.keep("launch.ramp", "micro.chase by one WG per CU, of few and of many steps,");
  }
  constexpr double kRamp = 1;
  constexpr double kStep = 0.3;
  const Solution found =
      run.solve(lines,
                {{kRamp, [](GpuSpec& gpu, double p) { gpu.launch.ramp = from_us(p); }},
                 {kStep, [](GpuSpec& gpu, double p) { gpu.gather.cached = from_us(p); }}},
                [](const GpuSpec& gpu, const MeasuredLine& line) {
                  const ChaseKernel chase{
                      .wgs = gpu.cus, .steps = *line.number("steps"), .found = {.in_l2 = 1}};
                  return measured_work_seconds(gpu.launch, last_wg_seconds(gpu.launch, chase.wgs) +
                                                               chase_seconds(gpu, chase));
                });
  run.gpu().launch.ramp =
      run.note("launch.ramp", from_us(found.parameters[0]), from_text("chase", lines),
               how_sure(found, 0, {"launch.ramp", ""}));
}

}  // namespace

void fit_launch(FitRun& run) {
  const LineRefs rows = run.lines("micro.empty_kernel", {"n"});
  if (rows.size() < 2) {
    run.keep("launch.queue, launch.clock", "micro.empty_kernel of two lengths");
  } else {
    const RowTimes row = fit_row(run, rows);
    const std::string from = from_text("empty_kernel", rows);
    const std::vector<std::string> paths{"launch.clock", "launch.queue"};
    run.gpu().launch.queue =
        run.note("launch.queue", from_us(row.gap_us), from, how_sure(row.found, 1, paths));
    run.gpu().launch.clock =
        run.note("launch.clock", from_us(row.clock_us), from, how_sure(row.found, 0, paths));
  }
  const LineRefs graphs = run.lines("micro.empty_kernel_graph", {"n"});
  if (graphs.size() < 2) {
    run.keep("launch.graph", "micro.empty_kernel_graph of two lengths");
  } else {
    const RowTimes row = fit_row(run, graphs);
    run.gpu().launch.graph =
        run.note("launch.graph", from_us(row.gap_us), from_text("empty_kernel_graph", graphs),
                 how_sure(row.found, 1, {"", "launch.graph"}));
  }
  fit_wg_interval(run);
  fit_ramp(run);
}

}  // namespace weft
