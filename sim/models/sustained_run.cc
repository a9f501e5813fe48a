#include "sim/models/sustained_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sim/gpu_model/power_law.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

std::optional<Cluster> slowed(const Cluster* cluster, double clock) {
  if (cluster == nullptr || clock == 1) return std::nullopt;
  ClusterSpec spec = cluster->spec;
  spec.gpu = at_clock(spec.gpu, clock);
  Cluster slow = build_cluster(spec);
  slow.choices_of = &cluster->choices();  // collectives are as fast as at full clock
  slow.gpu_of_choices = &cluster->spec.gpu;
  slow.representatives = cluster->representatives;
  return slow;
}

// Time of the matrix units that the graph's products take, over what it would be in bf16: of all
// GPUs together, as if each had the same share of them in fp8.
double of_bf16(const ModelGraph& graph, const GpuSpec& gpu) {
  if (gpu.fp8_matrix.count() == 0) return 1;
  const double in_fp8 =
      static_cast<double>(gpu.bf16_matrix.count()) / static_cast<double>(gpu.fp8_matrix.count());
  double all = 0;
  double taken = 0;
  for (const ModelOp& op : graph.ops) {
    const double flops = static_cast<double>(flops_of(op.shape).count()) *
                         static_cast<double>(gpus_in(graph.places[op.place]));
    const auto* gemm = std::get_if<GemmShape>(&op.shape);
    all += flops;
    taken += gemm != nullptr && gemm->fp8 != Fp8Scales::none ? flops * in_fp8 : flops;
  }
  return all > 0 ? taken / all : 1;
}

}  // namespace

bool is_sustained(const Scenario& scenario) {
  return scenario.cluster.gpu.power && asks_for_sustained_clocks(scenario);
}

SustainedRun::AtClock::AtClock(const Scenario& scenario, const Cluster& full,
                               const ModelGraph& graph, int clock)
    : slow_whole(slowed(full.whole, static_cast<double>(clock) / kFull)),
      slow(slowed(&full, static_cast<double>(clock) / kFull)),
      model(scenario, slow ? *slow : full, graph) {
  if (slow && slow_whole) slow->whole = &*slow_whole;
}

SustainedRun::SustainedRun(const Scenario& scenario, const Cluster& cluster,
                           const ModelGraph& graph)
    : scenario_(scenario), cluster_(cluster), graph_(graph) {
  at(kFull);
}

SustainedRun::AtClock& SustainedRun::at(int clock) {
  std::unique_ptr<AtClock>& known = runs_[clock];
  if (!known) {
    known = std::make_unique<AtClock>(scenario_, cluster_, graph_, clock);
    if (record_) known->model.record(*record_);
  }
  return *known;
}

void SustainedRun::record(const RecordOptions& what) {
  record_ = what;
  for (auto& [clock, run] : runs_) run->model.record(what);
}

// The lowest clock that the power of one of its GPUs leaves. The others wait for it.
int SustainedRun::clock_left_by(const RunResult& result, int clock) const {
  const GpuSpec& gpu = cluster_.spec.gpu;
  const int steps = scenario_.run.steps_between_pauses;
  const double in_bf16 = of_bf16(graph_, gpu);
  const double at = static_cast<double>(clock) / kFull;
  std::set<std::pair<Flops, Bytes>> seen;  // most GPUs do the same
  double lowest = 1;
  for (const GpuUse& use : result.gpus) {
    if (!seen.emplace(use.flops, use.hbm).second) continue;
    const StepLoad load{
        .time = to_seconds(result.time),
        .matrix = matrix_seconds(gpu, static_cast<double>(use.flops.count())) * in_bf16,
        .memory = static_cast<double>(use.hbm.count()) /
                  static_cast<double>(gpu.memory.bandwidth.count())};
    lowest = std::min(lowest, steps == 0 ? sustained_clock(*gpu.power, load, at)
                                         : clock_after_pause(*gpu.power, load, at, steps));
  }
  return static_cast<int>(std::floor(lowest * kFull));
}

// Starts at the clock of the previous mode. If two clocks lead to each other, takes the lower one.
RunResult SustainedRun::run(Mode mode, const OnProgress& on_progress) {
  std::set<int> tried;
  while (true) {
    RunResult result = at(clock_).model.run(mode, on_progress);
    if (result.ending != Ending::finished || !is_sustained(scenario_)) return result;
    result.clock = static_cast<double>(clock_) / kFull;
    const int left = clock_left_by(result, clock_);
    tried.insert(clock_);
    if (left == clock_ || (tried.count(left) > 0 && left > clock_)) return result;
    clock_ = left;
  }
}

}  // namespace weft
