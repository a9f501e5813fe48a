#include "sim/report/rates.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

void rate_flops(Rates& rates, const Rated& of, double gpu_seconds) {
  const StepWork& work = *of.work;
  const double peak = static_cast<double>(of.cluster.gpu.bf16_matrix.count());
  const double possible = gpu_seconds * peak;
  rates.tflops_per_gpu = work.model_flops / gpu_seconds / 1e12;
  if (possible == 0) return;
  rates.mfu = work.model_flops / possible;
  if (of.scenario.workload.phase == Phase::training) {
    rates.hfu = work.hardware_flops / possible;
  }
  if (work.full_attention_flops) rates.mfu_full_attention = *work.full_attention_flops / possible;
}

void rate_tokens(Rates& rates, double tokens, Phase phase, Duration time, double gpus) {
  constexpr double kSecondsPerHour = 3600;
  const double seconds = to_seconds(time);
  rates.tokens_per_s = tokens / seconds;
  rates.tokens_per_s_per_gpu = tokens / seconds / gpus;
  if (phase == Phase::decode) rates.time_per_output_token = time;
  if (phase != Phase::training) return;
  rates.gpu_hours_per_trillion_tokens = 1e12 / tokens * seconds * gpus / kSecondsPerHour;
}

void rate_cost(Rates& rates, double price, double gpu_seconds) {
  constexpr double kSecondsPerHour = 3600;
  if (price > 0) rates.cost = price * gpu_seconds / kSecondsPerHour;
}

// An uneven all-to-all has no size of its own.
void rate_collective(Rates& rates, const CollectiveWork& work, int gpus, double seconds) {
  if (!work.matrix.empty()) return;
  const double bandwidth = static_cast<double>(work.bytes.count()) / seconds;
  rates.algorithm_bandwidth = bandwidth;
  const auto groups = groups_of(work.groups, gpus);
  const auto as_large = [&](const auto& group) { return group.size() == groups.front().size(); };
  if (!std::all_of(groups.begin(), groups.end(), as_large)) return;
  rates.bus_bandwidth = bandwidth * bus_factor(work.op, groups.front().size());
}

}  // namespace

double bus_factor(CollectiveOp op, std::size_t gpus) {
  const auto n = static_cast<double>(gpus);
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
      return (n - 1) / n;
    case CollectiveOp::broadcast:
    case CollectiveOp::point_to_point:
      return 1;
  }
  SIM_ASSERT(false);
}

Rates rates(const RunReport& report, const RunResult& result) {
  return rates({report.scenario, report.cluster.spec, report.work}, result.time);
}

Rates rates(const Rated& of, Duration time) {
  Rates rates;
  if (time.count() == 0) return rates;
  const Workload& workload = of.scenario.workload;
  const double gpus = of.cluster.gpus();
  const double seconds = to_seconds(time);
  if (row_of(workload.kind).family == Family::collective) {
    rate_collective(rates, workload.collective, of.cluster.gpus(), seconds);
  }
  rate_cost(rates, of.scenario.run.gpu_hour_price, gpus * seconds);
  if (!of.work) return rates;
  const StepWork& work = *of.work;
  rate_flops(rates, of, gpus * seconds);
  if (work.samples) rates.samples_per_s = static_cast<double>(*work.samples) / seconds;
  if (work.tokens) {
    const auto tokens = static_cast<double>(*work.tokens);
    rate_tokens(rates, tokens, workload.phase, time, gpus);
    if (rates.cost) rates.cost_per_million_tokens = *rates.cost / tokens * 1e6;
  }
  return rates;
}

}  // namespace weft
