#include "sim/workloads/c3.h"

#include <algorithm>
#include <vector>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/scenario/modes.h"
#include "sim/workloads/gemm.h"
#include "sim/workloads/grid.h"

namespace weft {
namespace {

CuRange the_first(int cus) { return {.first = 0, .count = static_cast<std::uint32_t>(cus)}; }

CuRange all_but_the_first(int cus) {
  return {.first = static_cast<std::uint32_t>(cus), .count = UINT32_MAX};
}

// The number of WGs of a kernel; a persistent one has as many as fit.
std::int64_t gemm_wgs(const GemmWork& gemm, const GpuSpec& gpu) {
  const std::int64_t rows = round_up(gemm.m, gemm.tile_m);
  const std::int64_t columns = round_up(gemm.n, gemm.tile_n);
  const std::int64_t wgs = rows * columns * gemm.split_k;
  if (gemm.schedule == GemmSchedule::tiles) return wgs;
  return std::min<std::int64_t>(wgs, resident_on_gpu(gpu, gemm.wg, {}));
}

// Gives the collective `cus` CUs, or as many channels.
void part(C3Strategy& strategy, PartitionBy by, int cus) {
  SIM_ASSERT(cus > 0);
  if (by == PartitionBy::channels) {
    strategy.channels = cus;
    strategy.first = First::collective;
    return;
  }
  strategy.collective_cus = the_first(cus);
  strategy.gemm_cus = all_but_the_first(cus);
}

// As described, or the library's.
GemmWork kernel_of(const GemmWork& said, const GpuSpec& gpu) {
  if (!said.by_library) return said;
  const std::int64_t size = size_of(said.dtype).count();
  GemmWork gemm = library_work(
      {.m = said.m, .n = said.n, .k = said.k, .element_bytes = size, .result_bytes = size},
      said.dtype, gpu, 1);
  gemm.schedule = library_schedule(gpu);
  gemm.jitter = said.jitter;
  return gemm;
}

class C3 {
 public:
  C3(const C3Pair& pair, const Cluster& cluster, const C3Strategy& strategy)
      : pair_(pair),
        cluster_(cluster),
        strategy_(strategy),
        launch_(launch_gap(cluster.spec.gpu.launch, pair.launch)) {}

  TaskGraph lower() {
    if (strategy_.first == First::collective && strategy_.communicate) add_collectives();
    if (strategy_.compute) add_gemms();
    if (strategy_.first == First::gemm && strategy_.communicate) add_collectives();
    return std::move(graph_);
  }

  // A GPU takes launches one after another: the second of the two kernels comes a gap later.
  [[nodiscard]] Duration launch_of(First kernel) const {
    const bool alone = !strategy_.compute || !strategy_.communicate || strategy_.in_turn;
    return alone || kernel == strategy_.first ? launch_ : launch_ * 2;
  }

 private:
  void add_gemms() {
    const OperatorId op = graph_.operators.push_back({.name = "gemm", .role = KernelRole::compute});
    // Copy engines bypass the L2s.
    const bool is_beside =
        strategy_.communicate && !strategy_.in_turn && strategy_.executor == CollectiveExecutor::cu;
    const GpuSpec& gpu = cluster_.spec.gpu;
    const Bandwidth beside = is_beside ? through_channels(gpu.collective) : Bandwidth{};
    for (std::uint32_t g = 0; g < cluster_.gpus(); ++g) {
      Kernel kernel = gemm_kernel(
          graph_, pair_.gemm, gpu,
          {.gpu = GpuId(g), .cus = strategy_.gemm_cus, .beside = beside, .seed = pair_.seed});
      kernel.op = op;
      kernel.launch = launch_of(First::gemm);
      gemms_.push_back(graph_.add_kernel(kernel, {}));
    }
  }

  void add_collectives() {
    const OperatorId op =
        graph_.operators.push_back({.name = name_of(pair_.op), .role = KernelRole::collective});
    CollectiveCall call;
    call.op = pair_.op;
    call.buffer = pair_.bytes;
    call.options = pair_.collective;
    call.operator_id = op;
    call.launch = launch_of(First::collective);
    call.cus = strategy_.collective_cus;
    call.priority = strategy_.priority;
    call.options.executor = strategy_.executor;
    if (strategy_.channels > 0) call.options.channels = strategy_.channels;
    if (strategy_.in_turn) {
      for (const KernelId gemm : gemms_) call.after.push_back({gemm});
    }
    add_collective(graph_, cluster_, call);
  }

  const C3Pair& pair_;
  const Cluster& cluster_;
  const C3Strategy& strategy_;
  Duration launch_;
  TaskGraph graph_;
  std::vector<KernelId> gemms_;  // by GPU
};

}  // namespace

C3Pair c3_pair(const Scenario& scenario) {
  return {.gemm = kernel_of(scenario.workload.gemm, scenario.cluster.gpu),
          .op = scenario.workload.collective.op,
          .bytes = scenario.workload.collective.bytes,
          .options = scenario.c3,
          .collective = scenario.collective,
          .launch = scenario.run.launch,
          .seed = scenario.run.seed};
}

C3Strategy strategy_of(const C3Pair& pair, const GpuSpec& gpu, Mode mode, int partition_cus) {
  C3Strategy strategy;
  if (uses_copy_engines(mode)) strategy.executor = CollectiveExecutor::dma;
  if (has_partition(mode)) part(strategy, pair.options.partition_by, partition_cus);
  switch (mode) {
    case Mode::compute_alone:
      strategy.communicate = false;
      break;
    case Mode::comm_alone:
    case Mode::comm_alone_dma:
      strategy.compute = false;
      break;
    case Mode::serial:
      strategy.in_turn = true;
      break;
    case Mode::priority:
      strategy.priority = 1;
      break;
    case Mode::comm_first:
    case Mode::priority_partition:
      strategy.first = First::collective;
      strategy.priority = 1;
      break;
    case Mode::launch_order:
      if (channels_of(pair.collective, gpu) < gemm_wgs(pair.gemm, gpu)) {
        strategy.first = First::collective;
      }
      break;
    case Mode::dma_partition:
      strategy.gemm_cus = all_but_the_first(pair.options.dma_reserve_cus);
      break;
    case Mode::base:
    case Mode::partition:
    case Mode::lookup:
    case Mode::best:
    case Mode::dma:
      break;
    case Mode::bulk:
    case Mode::kernel:
    case Mode::pipelined:
    case Mode::fused:
    case Mode::role_split:
    case Mode::copy_fed:
    case Mode::mixed:
      SIM_ASSERT(false);
  }
  return strategy;
}

C3Strategy compute_beside(PartitionBy by, int cus) {
  C3Strategy strategy;
  part(strategy, by, cus);
  strategy.communicate = false;
  return strategy;
}

C3Strategy communicate_on(PartitionBy by, int cus) {
  C3Strategy strategy;
  part(strategy, by, cus);
  strategy.compute = false;
  return strategy;
}

TaskGraph lower_c3(const C3Pair& pair, const Cluster& cluster, const C3Strategy& strategy) {
  return C3(pair, cluster, strategy).lower();
}

}  // namespace weft
