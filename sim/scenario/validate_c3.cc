// A GEMM and a collective beside one another: which CUs, who carries the collective, and what must
// fit the widths that the simulator counts in.
#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"

namespace weft::rules {
namespace {

constexpr const char* kCus = "c3.partition_cus";
constexpr const char* kReserve = "c3.dma_reserve_cus";

// Both of them keep at least one step of the mask.
void a_mask_has_whole_steps(const Check& check, const std::string& path, int cus) {
  const GpuSpec& gpu = check.scenario.cluster.gpu;
  const int step = gpu.launch.mask_step;
  if (cus % step != 0) {
    return check.fail(path,
                      text(cus) + " CUs are not whole steps of " + text(step) +
                          ", the GPU's launch.mask_step; nearest: " + multiples_around(cus, step));
  }
  if (cus > gpu.cus - step) {
    check.fail(path, text(cus) + " of " + text(gpu.cus) + " CUs leave none for the GEMM; at most " +
                         text((gpu.cus - 1) / step * step));
  }
}

void partitions_suit_the_gpu(const Check& check) {
  if (!check.is(WorkloadKind::c3) ||
      !check.good({"cluster.gpu.cus", "cluster.gpu.launch.mask_step"}))
    return;
  const Scenario& scenario = check.scenario;
  const GpuSpec& gpu = scenario.cluster.gpu;
  const bool masked = scenario.c3.partition_by == PartitionBy::masks;
  const bool partitioned = std::any_of(scenario.modes.begin(), scenario.modes.end(), has_partition);
  if ((partitioned || check.has(Mode::dma_partition)) && gpu.cus <= gpu.launch.mask_step) {
    return check.fail("cluster.gpu.launch.mask_step",
                      text(gpu.cus) + " CUs in steps of " + text(gpu.launch.mask_step) +
                          " cannot be divided in two; use a smaller step or no partition");
  }
  const int cus = scenario.c3.partition_cus;
  if (cus > 0 && check.good({kCus})) {
    if (masked) {
      a_mask_has_whole_steps(check, kCus, cus);
    } else if (check.good({"cluster.gpu.collective.channels", "collective.channels"}) &&
               cus > channels_of(scenario.collective, scenario.cluster.gpu)) {
      check.fail(kCus, text(cus) + " channels of a collective that has " +
                           text(channels_of(scenario.collective, scenario.cluster.gpu)));
    }
  }
  if (check.has(Mode::dma_partition) && check.good({kReserve})) {
    a_mask_has_whole_steps(check, kReserve, scenario.c3.dma_reserve_cus);
  }
}

void copy_engines_can_carry_it(const Check& check) {
  if (!check.is(WorkloadKind::c3) ||
      !check.good({"modes", "workload.communication.op", "cluster.nodes"}))
    return;
  const Scenario& scenario = check.scenario;
  const bool asked = std::any_of(scenario.modes.begin(), scenario.modes.end(), uses_copy_engines);
  if (!asked || can_use_copy_engines(scenario)) return;
  check.fail("modes", scenario.cluster.nodes > 1
                          ? "copy engines cannot drive a NIC, so with " +
                                text(scenario.cluster.nodes) + " nodes there is no dma"
                          : "copy engines do not add, so there is no dma for a reduction");
}

void executor_is_the_strategys(const Check& check) {
  if (!check.is(WorkloadKind::c3) || !check.good({"collective.executor"})) return;
  if (check.scenario.collective.executor == CollectiveExecutor::cu) return;
  check.fail("collective.executor",
             "with kind c3 the mode decides: dma and dma+partition use copy engines");
}

void a_buffer_has_a_block_for_every_gpu(const Check& check) {
  if (!check.is(WorkloadKind::c3) ||
      !check.good({"workload.communication", "cluster.nodes", "cluster.gpus_per_node",
                   "cluster.gpu.collective.chunk"})) {
    return;
  }
  const std::int64_t gpus = check.scenario.cluster.gpus();
  const std::int64_t size = check.scenario.workload.collective.bytes.count();
  if (gpus < 2) {
    return check.fail("cluster.gpus_per_node", "a single GPU has no peer to communicate with");
  }
  if (size % gpus != 0) {
    return check.fail("workload.communication.bytes",
                      text(size) + " B do not divide evenly into blocks for " + text(gpus) +
                          " GPUs; nearest: " + multiples_around(size, gpus) + " B");
  }
  const auto chunk = static_cast<double>(check.scenario.cluster.gpu.collective.chunk.count());
  const double pieces = static_cast<double>(size) / std::min(chunk, 4096.0 * 256) + 64;
  if (pieces * static_cast<double>(gpus) * 4 > static_cast<double>(kMostItems)) {
    check.fail("workload.communication.bytes",
               "too many channel steps to count; use larger chunks or fewer bytes");
  }
}

void tiles_can_be_counted(const Check& check) {
  if (!check.is(WorkloadKind::c3) ||
      !check.good({"workload.gemm", "cluster.nodes", "cluster.gpus_per_node"})) {
    return;
  }
  const GemmWork& gemm = check.scenario.workload.gemm;
  const double tiles = (static_cast<double>(gemm.m) / gemm.tile_m + 1) *
                       (static_cast<double>(gemm.n) / gemm.tile_n + 1) * gemm.split_k;
  const double most = static_cast<double>(gemm.m) * static_cast<double>(std::max(gemm.n, gemm.k));
  if (tiles * check.scenario.cluster.gpus() * 2 <= static_cast<double>(kMostItems) && most < 1e15) {
    return;
  }
  check.fail("workload.gemm.m",
             "too many tiles on all GPUs, or matrices too large, to count; use larger tiles or"
             " smaller matrices");
}

// Others need to know which WGs make what is sent to each peer.
void only_c3_leaves_the_kernel_to_the_library(const Check& check) {
  if (check.is(WorkloadKind::c3) || !check.good({"workload.kind", "workload.gemm.kernel"})) return;
  if (!check.scenario.workload.gemm.by_library) return;
  check.fail("workload.gemm.kernel",
             "only with kind: c3; this kind's WGs are cut by peer, so use described. In a whole "
             "model (kind: transformer) bulk runs the library's kernels");
}

void only_c3_shares_tiles(const Check& check) {
  if (check.is(WorkloadKind::c3) || !check.good({"workload.kind", "workload.gemm.schedule"}))
    return;
  if (check.scenario.workload.gemm.schedule != GemmSchedule::stream_k) return;
  check.fail(
      "workload.gemm.schedule",
      "with stream_k a tile belongs to several WGs, but this kind needs one WG per tile; use tiles,"
      " persistent or dynamic");
}

}  // namespace

void validate_c3(const Check& check) {
  partitions_suit_the_gpu(check);
  copy_engines_can_carry_it(check);
  executor_is_the_strategys(check);
  a_buffer_has_a_block_for_every_gpu(check);
  tiles_can_be_counted(check);
  only_c3_shares_tiles(check);
  only_c3_leaves_the_kernel_to_the_library(check);
}

}  // namespace weft::rules
