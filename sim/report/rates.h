// Rates: the numbers by which people compare whole models (sim/models/step_work.h) and collectives,
// of one mode. What does not apply is absent.
//
//   MFU = model FLOPs / (GPUs x matrix peak x time)        PaLM (arXiv:2204.02311), appendix B
//   HFU = the same of hardware FLOPs                       Korthikanti et al. (arXiv:2205.05198)
//
// The peak is that of the GPU's matrix units for the model's type, bf16 or fp16, without sparsity;
// also where operands are fp8: it may then pass 100 %.
//
// Bandwidths of a collective are those of nccl-tests (doc/PERFORMANCE.md): algorithm bandwidth is
// size / time, and bus bandwidth so many times as much, in a group of n GPUs:
//
//   all-reduce                               2 (n - 1) / n
//   all-gather, reduce-scatter, all-to-all   (n - 1) / n
//   broadcast, point to point                1
//
// The size is `workload.bytes`, which means the same there: the whole buffer that an all-gather
// receives into, or that a reduce-scatter or an all-to-all sends from.
//
// What a run costs is what its GPUs are worth for its time, used or not (run.gpu_hour_price):
//
//   cost = price of a GPU's hour x GPUs x hours
#pragma once

#include <optional>

#include "sim/report/run_report.h"

namespace weft {

struct Rates {
  std::optional<double> mfu;
  std::optional<double> mfu_full_attention;  // with masked pairs, as PaLM counts
  std::optional<double> hfu;                 // training: nothing else computes again
  std::optional<double> tflops_per_gpu;      // of model FLOPs
  std::optional<double> tokens_per_s;
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<Duration> time_per_output_token;
  std::optional<double> gpu_hours_per_trillion_tokens;
  std::optional<double> cost;  // of one run
  std::optional<double> cost_per_million_tokens;
  std::optional<double> samples_per_s;
  std::optional<double> algorithm_bandwidth;  // bytes per second
  std::optional<double> bus_bandwidth;
};
Rates rates(const RunReport& report, const RunResult& result);

// What a time is rated by.
struct Rated {
  const Scenario& scenario;
  const ClusterSpec& cluster;
  const std::optional<StepWork>& work;  // of a whole model that the scenario describes
};
Rates rates(const Rated& of, Duration time);

// Bus bandwidth over algorithm bandwidth, in a group of so many GPUs.
double bus_factor(CollectiveOp op, std::size_t gpus);

}  // namespace weft
