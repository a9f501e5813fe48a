// The resolved scenario as YAML. Every key that read_*.cc reads is written here; a test compares.
#include <string>

#include "sim/scenario/load.h"
#include "sim/scenario/names.h"
#include "sim/scenario/writer.h"

namespace weft {
namespace {

void write_gpu(Writer& out, const GpuSpec& gpu) {
  out.open("gpu");
  out.quoted("name", gpu.name);
  out.line("cus", gpu.cus);
  out.line("wave_size", gpu.wave_size);
  out.open("cu");
  out.line("waves", gpu.cu.waves);
  out.line("registers", gpu.cu.registers);
  out.line("lds", to_text(gpu.cu.lds));
  out.line("wgs", gpu.cu.wgs);
  out.close();
  out.line("fp32_vector", to_text(gpu.fp32_vector));
  out.line("bf16_matrix", to_text(gpu.bf16_matrix));
  out.line("wave_sum", to_text(gpu.wave_sum));
  out.open("memory");
  out.line("bandwidth", to_text(gpu.memory.bandwidth));
  out.line("write_cost", number_text(gpu.memory.write_cost));
  out.line("latency", to_text(gpu.memory.latency));
  out.line("doubling", to_text(gpu.memory.doubling));
  out.line("bend", number_text(gpu.memory.bend));
  out.line("capacity", to_text(gpu.memory.capacity));
  out.line("side_cache", to_text(gpu.memory.side_cache));
  out.close();
  out.open("l2");
  out.line("capacity", to_text(gpu.l2.capacity));
  out.line("dies", gpu.l2.dies);
  out.line("copies", gpu.l2.copies);
  out.line("latency", to_text(gpu.l2.latency));
  if (gpu.l2.bandwidth.count() > 0) out.line("bandwidth", to_text(gpu.l2.bandwidth));
  out.close();
  out.open("gather");
  out.line("latency", to_text(gpu.gather.latency));
  out.line("doubling", to_text(gpu.gather.doubling));
  out.line("cached", to_text(gpu.gather.cached));
  out.line("unfairness", number_text(gpu.gather.unfairness));
  out.line("l1", to_text(gpu.gather.l1));
  out.close();
  if (gpu.caches) write_cache_machine(out, "caches", *gpu.caches);
  out.open("launch");
  out.line("host", to_text(gpu.launch.host));
  out.line("queue", to_text(gpu.launch.queue));
  out.line("graph", to_text(gpu.launch.graph));
  out.line("clock", to_text(gpu.launch.clock));
  out.line("ramp", to_text(gpu.launch.ramp));
  out.line("wg_interval", to_text(gpu.launch.wg_interval));
  out.line("arbitration", names::word(names::kArbitrations, gpu.launch.arbitration));
  out.line("mask_step", gpu.launch.mask_step);
  out.close();
  out.open("dma");
  out.line("engines", gpu.dma.engines);
  out.line("rate", to_text(gpu.dma.rate));
  out.line("host", to_text(gpu.dma.host));
  out.line("schedule", to_text(gpu.dma.schedule));
  out.line("next", to_text(gpu.dma.next));
  out.line("signal", to_text(gpu.dma.signal));
  out.close();
  out.open("peer_store");
  out.line("wg_rate", to_text(gpu.peer_store.wg_rate));
  out.line("fence", to_text(gpu.peer_store.fence));
  out.line("fences", names::word(names::kFences, gpu.peer_store.fences));
  out.line("fence_gap", to_text(gpu.peer_store.fence_gap));
  out.line("flag", to_text(gpu.peer_store.flag));
  out.close();
  write_collective(out, gpu.collective);
  out.close();
}

std::string_view shape_word(ShapeKind shape) {
  switch (shape) {
    case ShapeKind::fully_connected:
      return "fully_connected";
    case ShapeKind::switched:
      return "switch";
    case ShapeKind::torus:
      return "torus";
    case ShapeKind::fat_tree:
      return "fat_tree";
  }
  return "";
}

void write_fabric(Writer& out, std::string_view key, const FabricSpec& fabric) {
  out.open(key);
  out.line("shape", shape_word(fabric.shape));
  out.open("link");
  out.line("bandwidth", to_text(fabric.link.bandwidth));
  out.line("latency", to_text(fabric.link.latency));
  if (fabric.link.engine_ratio != 1) {
    out.line("engine_ratio", number_text(fabric.link.engine_ratio));
  }
  out.close();
  if (fabric.shape == ShapeKind::torus) {
    std::string dims;
    for (const int size : fabric.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(size);
    out.line("dims", '[' + dims + ']');
    out.line("ring_ties", names::word(names::kRingTies, fabric.ring_ties));
  }
  if (fabric.shape == ShapeKind::fat_tree) {
    out.line("endpoints_per_leaf", fabric.endpoints_per_leaf);
    out.line("oversubscription", number_text(fabric.oversubscription));
    out.line("up_routing", names::word(names::kUpRoutings, fabric.up_routing));
  }
  if (fabric.reduces) {
    out.line("reduces", "true");
    out.line("in_switch_ratio", number_text(fabric.in_switch_ratio));
  }
  out.line("segment", to_text(fabric.segment));
  out.close();
}

void write_nic(Writer& out, const NicSpec& nic) {
  out.open("nic");
  out.line("per_node", nic.per_node);
  out.line("bandwidth", to_text(nic.bandwidth));
  out.line("latency", to_text(nic.latency));
  out.line("message_rate", message_rate_text(nic.message_interval));
  out.line("queue_depth", nic.queue_depth);
  out.line("inline_up_to", to_text(nic.inline_up_to));
  out.line("initiated_by", names::word(names::kInitiators, nic.initiated_by));
  out.line("post", to_text(nic.post));
  out.line("flush", to_text(nic.flush));
  out.line("proxy_operation", to_text(nic.proxy_operation));
  out.line("receive", to_text(nic.receive));
  out.close();
}

void write_what_is_slower(Writer& out, const ClusterSpec& cluster) {
  if (!cluster.stragglers.empty()) out.open("stragglers");
  for (const Straggler& slow : cluster.stragglers) {
    out.item("{gpu: " + std::to_string(slow.gpu) + ", clock: " + number_text(slow.clock) +
             ", memory: " + number_text(slow.memory) + '}');
  }
  if (!cluster.stragglers.empty()) out.close();
  if (!cluster.degraded_links.empty()) out.open("degraded_links");
  for (const DegradedLink& link : cluster.degraded_links) {
    out.item("{link: " + in_double_quotes(link.link) +
             ", bandwidth: " + number_text(link.bandwidth) + '}');
  }
  if (!cluster.degraded_links.empty()) out.close();
}

void write_cluster(Writer& out, const ClusterSpec& cluster) {
  out.open("cluster");
  out.quoted("name", cluster.name);
  out.line("nodes", cluster.nodes);
  out.line("gpus_per_node", cluster.gpus_per_node);
  write_gpu(out, cluster.gpu);
  if (cluster.scale_up) write_fabric(out, "scale_up", *cluster.scale_up);
  if (cluster.scale_out) write_fabric(out, "scale_out", *cluster.scale_out);
  if (cluster.nic) write_nic(out, *cluster.nic);
  write_what_is_slower(out, cluster);
  out.close();
}

void write_wg(Writer& out, const WgShape& wg) {
  out.open("wg");
  out.line("threads", wg.threads);
  out.line("registers_per_thread", wg.registers_per_thread);
  out.line("lds", to_text(wg.lds));
  out.line("loads_in_flight", wg.loads_in_flight);
  out.close();
}

void write_embedding(Writer& out, const EmbeddingWork& work) {
  out.line("batch", work.batch);
  out.line("tables_per_gpu", work.tables_per_gpu);
  out.line("rows_per_table", work.rows_per_table);
  out.line("zipf", number_text(work.zipf));
  out.line("dim", work.dim);
  out.line("pooling", work.pooling);
  out.line("dtype", names::word(names::kDataTypes, work.dtype));
  out.line("index_bytes", work.index_bytes);
  out.line("rows_per_wg", work.rows_per_wg);
  out.line("walk", names::word(names::kTableWalks, work.walk));
  out.line("chain", work.chain);
  out.line("index_read", to_text(work.index_read));
  write_wg(out, work.wg);
  out.line("jitter", number_text(work.jitter));
}

void write_gemv(Writer& out, const GemvWork& gemv) {
  out.open("gemv");
  out.line("m", gemv.m);
  out.line("k", gemv.k);
  out.line("dtype", names::word(names::kDataTypes, gemv.dtype));
  out.line("rows_per_wg", gemv.rows_per_wg);
  out.line("weights", names::word(names::kWeights, gemv.weights_in_l2));
  out.line("load_sums", to_text(gemv.load_sums));
  write_wg(out, gemv.wg);
  out.line("jitter", number_text(gemv.jitter));
  out.close();
}

void write_gemm(Writer& out, const GemmWork& gemm) {
  out.open("gemm");
  out.line("m", gemm.m);
  out.line("n", gemm.n);
  out.line("k", gemm.k);
  out.line("dtype", names::word(names::kDataTypes, gemm.dtype));
  out.line("tile_m", gemm.tile_m);
  out.line("tile_n", gemm.tile_n);
  out.line("split_k", gemm.split_k);
  out.line("order", names::word(names::kTileOrders, gemm.order));
  if (gemm.order == TileOrder::swizzled) out.line("swizzle", gemm.swizzle);
  out.line("efficiency", number_text(gemm.efficiency));
  out.line("alone", number_text(gemm.alone));
  out.line("schedule", names::word(names::kGemmSchedules, gemm.schedule));
  write_wg(out, gemm.wg);
  out.line("jitter", number_text(gemm.jitter));
  out.close();
}

// [[0, 1], [2, 3]]
template <class Text>
std::string table_text(const std::vector<std::vector<std::int64_t>>& table, Text text) {
  std::string rows;
  for (const std::vector<std::int64_t>& row : table) {
    std::string cells;
    for (const std::int64_t cell : row) cells += (cells.empty() ? "" : ", ") + text(cell);
    rows += (rows.empty() ? "[" : ", [") + cells + ']';
  }
  return '[' + rows + ']';
}

void write_collective_work(Writer& out, const CollectiveWork& work) {
  out.line("op", names::word(names::kCollectiveOps, work.op));
  if (work.matrix.empty()) {
    out.line("bytes", to_text(work.bytes));
  } else {
    out.line("matrix", table_text(work.matrix, [](std::int64_t n) { return to_text(bytes(n)); }));
  }
  if (!work.groups.gpus.empty()) {
    out.open("groups");
    out.line("gpus",
             table_text(work.groups.gpus, [](std::int64_t n) { return std::to_string(n); }));
    out.close();
  } else if (work.groups.size > 0) {
    out.open("groups");
    out.line("size", work.groups.size);
    out.line("stride", work.groups.stride);
    out.close();
  }
  const bool one_pair = work.op == CollectiveOp::point_to_point;
  if (one_pair || work.op == CollectiveOp::broadcast) out.line("root", work.root);
  if (one_pair) out.line("target", work.target);
}

void write_workload(Writer& out, const Workload& workload) {
  out.open("workload");
  out.line("kind", names::word(names::kWorkloadKinds, workload.kind));
  switch (workload.kind) {
    case WorkloadKind::embedding_all_to_all:
    case WorkloadKind::embedding_backward:
      write_embedding(out, workload.embedding);
      break;
    case WorkloadKind::dlrm:
      write_embedding(out, workload.embedding);
      write_model(out, workload);
      break;
    case WorkloadKind::transformer:
    case WorkloadKind::moe:
    case WorkloadKind::chakra:
    case WorkloadKind::pytorch:
      write_model(out, workload);
      break;
    case WorkloadKind::gemv_all_reduce:
      write_gemv(out, workload.gemv);
      break;
    case WorkloadKind::gemm_all_to_all:
    case WorkloadKind::gemm_reduce_scatter:
    case WorkloadKind::gemm_all_reduce:
    case WorkloadKind::all_gather_gemm:
      write_gemm(out, workload.gemm);
      break;
    case WorkloadKind::collective:
      write_collective_work(out, workload.collective);
      break;
    case WorkloadKind::c3:
      write_gemm(out, workload.gemm);
      out.open("communication");
      out.line("op", names::word(names::kCollectiveOps, workload.collective.op));
      out.line("bytes", to_text(workload.collective.bytes));
      out.close();
      break;
  }
  out.close();
}

void write_modes(Writer& out, const Scenario& scenario) {
  std::string modes;
  for (const Mode mode : scenario.modes) {
    modes += (modes.empty() ? "" : ", ") + std::string(names::word(names::kModes, mode));
  }
  out.line("modes", '[' + modes + ']');
  out.open("collective");
  out.line("executor", names::word(names::kExecutors, scenario.collective.executor));
  if (scenario.collective.executor == CollectiveExecutor::dma) {
    out.line("dma", names::word(names::kDmaPatterns, scenario.collective.dma));
  } else {
    out.line("algorithm", names::word(names::kAlgorithmChoices, scenario.collective.algorithm));
    out.line("protocol", names::word(names::kProtocolChoices, scenario.collective.protocol));
  }
  if (scenario.collective.channels > 0) out.line("channels", scenario.collective.channels);
  out.close();
  out.open("kernel");
  out.line("chunks", scenario.kernel.chunks);
  out.close();
  const FusedOptions& fused = scenario.fused;
  out.open("fused");
  if (results_travel(scenario.workload.kind)) {
    out.line("order", names::word(names::kOrders, fused.order));
    out.line("flag_per", names::word(names::kFlagPer, fused.flag_per));
    out.line("staging", names::word(names::kStagings, fused.staging));
  }
  out.line("work_list", names::word(names::kWorkLists, fused.work_list));
  out.line("put_by", names::word(names::kPutBy, fused.put_by));
  out.line("fence_by", names::word(names::kFenceBys, fused.fence_by));
  out.line("acquire", names::word(names::kAcquires, fused.acquire));
  out.line("slice_wgs", fused.slice_wgs);
  out.line("extra_registers_per_thread", fused.extra_registers_per_thread);
  if (fused.max_wgs_per_cu > 0) out.line("max_wgs_per_cu", fused.max_wgs_per_cu);
  if (fused.chain > 0) out.line("chain", fused.chain);
  if (adds_up(scenario.workload.kind)) out.line("add_load", to_text(fused.add_load));
  out.close();
  out.open("c3");
  out.line("partition_by", names::word(names::kPartitions, scenario.c3.partition_by));
  if (scenario.c3.partition_cus > 0) out.line("partition_cus", scenario.c3.partition_cus);
  out.line("dma_reserve_cus", scenario.c3.dma_reserve_cus);
  out.close();
}

}  // namespace

std::string to_text(const Scenario& scenario) {
  Writer out;
  out.quoted("name", scenario.name);
  write_cluster(out, scenario.cluster);
  write_workload(out, scenario.workload);
  write_modes(out, scenario);
  const RunOptions& run = scenario.run;
  out.open("run");
  out.line("seed", static_cast<std::int64_t>(run.seed));
  out.line("max_events", run.max_events);
  out.line("max_time", to_text(run.max_time));
  out.line("max_memory", to_text(run.max_memory));
  out.line("launch", names::word(names::kLaunches, run.launch));
  out.line("repeats", names::word(names::kRepeats, run.repeats_once));
  out.line("tie_shuffle", static_cast<std::int64_t>(run.tie_shuffle));
  out.close();
  return out.text();
}

}  // namespace weft
