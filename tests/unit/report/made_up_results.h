// Results that no engine made: numbers chosen so that the expected text can be computed by hand.
#pragma once

#include <string>
#include <vector>

#include "sim/report/run_report.h"

namespace weft::testing {

// Two nodes of one GPU: 10 CUs that hold 8 WGs of 256 threads x 64 registers, 1 TB/s of HBM.
inline RunReport two_gpus() {
  ClusterSpec spec;
  spec.name = "two";
  spec.nodes = 2;
  spec.gpus_per_node = 1;
  spec.gpu.name = "toy";
  spec.gpu.cus = 10;
  spec.gpu.wave_size = 64;
  spec.gpu.cu = {.waves = 40, .registers = 8 * 256 * 64, .lds = kibibytes(64), .wgs = 32};
  spec.gpu.memory = {.bandwidth = gigabytes_per_second(1000),
                     .latency = nanoseconds(500),
                     .doubling = {},
                     .bend = 4,
                     .capacity = mebibytes(1024),
                     .side_cache = {}};
  FabricSpec fabric;
  fabric.topology = Topology("switch");
  fabric.link = {.bandwidth = gigabits_per_second(200), .latency = nanoseconds(700)};
  spec.scale_out = fabric;
  NicSpec nic;
  nic.per_node = 1;
  spec.nic = nic;
  Scenario scenario;
  scenario.name = "made up";
  scenario.hash = "0123456789abcdef";
  scenario.cluster = spec;
  scenario.run.seed = 7;
  scenario.workload.embedding.wg = {
      .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 4};
  scenario.fused.extra_registers_per_thread = 8;
  return {.scenario = scenario,
          .cluster = build_cluster(spec),
          .simulated_gpus = 2,
          .runs = {},
          .version = "1.2.3",
          .command = "weft run made_up.yaml",
          .inputs = {{.path = "made_up.yaml", .hash = "00000000000000aa"}}};
}

// Shares of the time, in percent.
struct Shares {
  int computing = 0;
  int exposed = 0;
  int cu = 0;
  int hbm = 0;
  int link = 0;
  int proxy = 0;
};

// Adds a run in which both GPUs do the same.
inline RunResult& add_run(RunReport& report, Mode mode, Duration time, const Shares& shares) {
  const auto percent = [](Duration whole, int part) {
    return picoseconds(whole.count() / 100 * part);
  };
  ModeRun run;
  run.wall_s = 0.5;
  RunResult& result = run.result;
  result.mode = mode;
  result.time = time;
  result.events = 1'000'000;
  result.fingerprint = 0xFEEDU + static_cast<unsigned>(mode);
  GpuUse gpu;
  gpu.end = SimTime{} + time;
  gpu.computing = percent(time, shares.computing);
  gpu.active = percent(time, shares.computing + shares.exposed);
  gpu.cu_busy = percent(time, shares.cu) * report.cluster.spec.gpu.cus;
  gpu.proxy = percent(time, shares.proxy);
  gpu.hbm = bytes(percent(time, shares.hbm).count());  // 1 TB/s is a byte per picosecond
  result.gpus = {gpu, gpu};
  OperatorUse op;
  op.name = "embedding";
  op.role = mode == Mode::fused ? KernelRole::fused : KernelRole::compute;
  op.first_start = SimTime{} + nanoseconds(500);
  op.first_place = op.first_start;
  op.last_end = SimTime{} + time;
  op.longest = time - nanoseconds(500);
  op.sum = op.longest + op.longest;
  op.kernels = 2;
  op.wgs = 64;
  op.hbm = gpu.hbm * 2;
  op.wg_time = time * 100;
  result.operators = {op};
  LinkRow link;
  link.name = "0->1";
  link.link_class = "scale_out_x+";
  link.bandwidth = gigabytes_per_second(25);
  link.use.busy = percent(time, shares.link);
  link.use.carried = bytes(link.use.busy.count() / 40);  // 25 GB/s are a byte in 40 ps
  result.links = {link};
  result.ledger.wgs = {64, 64};
  result.ledger.messages = {10, 10};
  result.ledger.message_bytes = {4096, 4096};
  report.runs.push_back(run);
  return report.runs.back().result;
}

// A step of 100 ms of a model, on two GPUs of 100 TFLOP/s.
inline RunReport step_of(WorkloadKind kind, Phase phase, const StepWork& work) {
  RunReport report = two_gpus();
  report.cluster.spec.gpu.bf16_matrix = gigaflops(100'000);
  report.scenario.workload.kind = kind;
  report.scenario.workload.phase = phase;
  report.work = work;
  for (const Mode mode : {Mode::bulk, Mode::fused}) {
    add_run(report, mode, microseconds(100'000), {.link = 70});
  }
  return report;
}

inline RunReport trained() {
  return step_of(WorkloadKind::transformer, Phase::training,
                 {.model_flops = 8e12,
                  .full_attention_flops = 9e12,
                  .hardware_flops = 10e12,
                  .tokens = 4096,
                  .samples = {},
                  .memory_of_fullest_gpu = 60e9});
}

inline RunReport decoded() {
  return step_of(WorkloadKind::transformer, Phase::decode,
                 {.model_flops = 1e12,
                  .full_attention_flops = 1e12,
                  .hardware_flops = 1e12,
                  .tokens = 64,
                  .samples = {}});
}

inline RunReport recommended() {
  return step_of(WorkloadKind::dlrm, Phase::training,
                 {.model_flops = 1e12,
                  .full_attention_flops = {},
                  .hardware_flops = 1e12,
                  .tokens = {},
                  .samples = 1000});
}

// An all-reduce of 200 MB in 100 ms.
inline RunReport reduced() {
  RunReport report = two_gpus();
  report.scenario.workload.kind = WorkloadKind::collective;
  report.scenario.workload.collective.op = CollectiveOp::all_reduce;
  report.scenario.workload.collective.bytes = bytes(200'000'000);
  for (const Mode mode : {Mode::bulk, Mode::fused}) {
    add_run(report, mode, microseconds(100'000), {.link = 70});
  }
  return report;
}

// Whose fields together are all rates.
inline std::vector<RunReport> all_rates() {
  std::vector<RunReport> all{trained(), decoded(), recommended(), reduced()};
  for (RunReport& report : all) report.scenario.run.gpu_hour_price = 2;
  return all;
}

inline Duration& wait_of(RunResult& result, Wait wait) {
  return result.gpus.front().waits[static_cast<std::size_t>(wait)];
}

}  // namespace weft::testing
