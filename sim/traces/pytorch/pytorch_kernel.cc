#include "sim/traces/pytorch/pytorch_kernel.h"

#include <fmt/format.h>

#include <string>

#include "sim/traces/names.h"
#include "sim/traces/totals.h"

namespace weft {
namespace {

// One kernel serves products of many sizes: each size is an operator of its own.
std::string name_of(const GpuEvent& event) {
  std::string name = short_kernel_name(event.name);
  if (!event.work || !event.work->gemm) return name;
  const RecordedGemm& gemm = *event.work->gemm;
  const std::string sizes = fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k);
  return gemm.batch == 1 ? fmt::format("{} {}", name, sizes)
                         : fmt::format("{} {} x {}", name, gemm.batch, sizes);
}

}  // namespace

TraceNode kernel_node(const GpuEvent& event, std::uint32_t lane, PytorchSums& sums) {
  TraceNode node{.label = fmt::format("kernel '{}'", short_kernel_name(event.name)),
                 .name = name_of(event),
                 .part = event.kind == GpuEvent::Kind::kernel ? "compute" : "copy",
                 .what = PassNode{},
                 .after = {}};
  if (event.work) node.part = weft::name_of(event.work->kind);
  ++sums.summary.by_kind[node.part].nodes;
  const Duration time = nanoseconds(event.duration);
  add_saturating(sums.summary.recorded, time);
  if (event.beside) {
    ++sums.beside;
    add_saturating(sums.beside_time, time);
  }
  if (event.duration == 0) {
    ++sums.counts["kernels and copies of 0 us, which take no time"];
    return node;
  }
  if (event.without_grid) {
    ++sums.counts["kernels whose grid is not recorded, taken to be one work-group"];
  }
  node.what = ComputeNode{.shape = RecordedShape{.time = time,
                                                 .wgs = event.wgs,
                                                 .threads = event.threads,
                                                 .registers_per_thread = event.registers,
                                                 .lds = bytes(event.shared_bytes),
                                                 .work = event.work,
                                                 .beside = event.beside},
                          .lane = lane};
  return node;
}

}  // namespace weft
