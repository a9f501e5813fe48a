#include "sim/workloads/lower.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/core/assert.h"
#include "sim/workloads/c3.h"
#include "sim/workloads/collective.h"
#include "sim/workloads/embedding.h"
#include "sim/workloads/gemm.h"
#include "sim/workloads/gemv.h"

namespace weft {
namespace {

struct Counts {
  std::int64_t items = 0;
  std::int64_t sends = 0;
  std::int64_t bytes = 0;  // of all sends
};

// An operator and the collective beside it.
struct Pattern {
  WorkloadKind kind;
  const char* title;
  Grid (*grid)(const Scenario&, const Cluster&, int extra_registers);
  CollectiveOp op;
  Travels travels;
};

// A new operator is one file and one row.
constexpr std::array kPatterns{
    Pattern{WorkloadKind::embedding_all_to_all, "embedding + all-to-all", embedding_grid,
            CollectiveOp::all_to_all, Travels::result},
    Pattern{WorkloadKind::embedding_backward, "all-to-all + embedding backward",
            embedding_backward_grid, CollectiveOp::all_to_all, Travels::input},
    Pattern{WorkloadKind::gemv_all_reduce, "GEMV + all-reduce", gemv_grid, CollectiveOp::all_reduce,
            Travels::result},
    Pattern{WorkloadKind::gemm_all_to_all, "GEMM + all-to-all", gemm_grid, CollectiveOp::all_to_all,
            Travels::result},
    Pattern{WorkloadKind::gemm_reduce_scatter, "GEMM + reduce-scatter", gemm_grid,
            CollectiveOp::reduce_scatter, Travels::result},
    Pattern{WorkloadKind::gemm_all_reduce, "GEMM + all-reduce", gemm_grid, CollectiveOp::all_reduce,
            Travels::result},
    Pattern{WorkloadKind::all_gather_gemm, "all-gather + GEMM", gemm_grid, CollectiveOp::all_gather,
            Travels::input},
};

const Pattern* pattern_of(WorkloadKind kind) {
  const auto* const found = std::find_if(kPatterns.begin(), kPatterns.end(),
                                         [&](const Pattern& row) { return row.kind == kind; });
  return found == kPatterns.end() ? nullptr : &*found;
}

TaskGraph lower_pattern(const Pattern& pattern, const Scenario& scenario, const Cluster& cluster,
                        Mode mode) {
  const int extra = mode == Mode::fused ? scenario.fused.extra_registers_per_thread : 0;
  const Grid grid = pattern.grid(scenario, cluster, extra);
  switch (mode) {
    case Mode::bulk:
      return lower_chunked(scenario, cluster, grid, pattern.op, pattern.travels, 1);
    case Mode::kernel:
      return lower_chunked(scenario, cluster, grid, pattern.op, pattern.travels,
                           static_cast<std::uint32_t>(scenario.kernel.chunks));
    case Mode::fused:
      return pattern.travels == Travels::result
                 ? lower_fused_producer(scenario, cluster, grid, pattern.op)
                 : lower_fused_consumer(scenario, cluster, grid, pattern.op);
    default:
      SIM_ASSERT(false);
  }
}

Counts count_pattern(const Pattern& pattern, const Scenario& scenario, const Cluster& cluster,
                     Mode mode) {
  const Grid grid = pattern.grid(scenario, cluster, 0);
  const std::int64_t gpus = cluster.gpus();
  const std::int64_t pairs = gpus * (gpus - 1);
  const std::int64_t wgs = gpus * gpus * grid.per_peer;
  const std::int64_t bytes_per_pair = pattern.travels == Travels::input
                                          ? grid.units() * grid.input_bytes
                                          : grid.bytes_of(grid.per_peer);
  if (mode == Mode::fused) {  // of zero copy, one store a WG and one flag a slice
    const std::int64_t slices = std::max<std::int64_t>(
        1, grid.per_peer / (std::int64_t{scenario.fused.slice_wgs} * grid.parts));
    const bool stores = cluster.spec.gpus_per_node > 1;
    const std::int64_t phases = pattern.op == CollectiveOp::all_reduce ? 2 : 1;
    return {.items = wgs + (pattern.op == CollectiveOp::all_to_all ? 0 : gpus * slices),
            .sends = phases * pairs * (slices + 1 + (stores ? grid.per_peer : 0)),
            .bytes = phases * pairs * bytes_per_pair};
  }
  const std::int64_t chunks = mode == Mode::kernel ? scenario.kernel.chunks : 1;
  CollectiveCall call;
  call.op = pattern.op;
  call.buffer = bytes((bytes_per_pair + chunks - 1) / chunks * gpus);
  call.options = scenario.collective;
  const CollectiveCounts each = count_collective(cluster, call);
  return {.items = wgs + chunks * each.items,
          .sends = chunks * each.sends,
          .bytes = chunks * each.bytes};
}

CollectiveCall call_of(const Scenario& scenario, const Cluster& cluster) {
  CollectiveCall call;
  call.buffer = scenario.workload.all_to_all.bytes_per_pair * cluster.gpus();
  call.options = scenario.collective;
  call.launch = launch_gap(cluster.spec.gpu.launch, scenario.run.launch);
  return call;
}

TaskGraph lower_all_to_all(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  SIM_ASSERT(mode == Mode::bulk);
  TaskGraph graph;
  CollectiveCall call = call_of(scenario, cluster);
  call.operator_id =
      graph.operators.push_back({.name = name_of(call.op), .role = KernelRole::collective});
  add_collective(graph, cluster, call);
  return graph;
}

Counts count_all_to_all(const Scenario& scenario, const Cluster& cluster) {
  const CollectiveCounts counts = count_collective(cluster, call_of(scenario, cluster));
  return {.items = counts.items, .sends = counts.sends, .bytes = counts.bytes};
}

Counts count_c3(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const GemmWork& gemm = scenario.workload.gemm;
  const std::int64_t tiles = (gemm.m / gemm.tile_m + 1) * (gemm.n / gemm.tile_n + 1) * gemm.split_k;
  CollectiveCall call;
  call.op = scenario.workload.communication.op;
  call.buffer = scenario.workload.communication.buffer;
  call.options = scenario.collective;
  if (uses_copy_engines(mode)) call.options.executor = CollectiveExecutor::dma;
  const CollectiveCounts counts = count_collective(cluster, call);
  return {.items = cluster.gpus() * tiles + counts.items,
          .sends = counts.sends,
          .bytes = counts.bytes};
}

// A message in flight is one segment of those it is cut into; the rest wait in the same queue.
std::int64_t segments(const std::optional<FabricSpec>& fabric, std::int64_t bytes_of_message) {
  if (!fabric || fabric->segment.count() == 0) return 1;
  return bytes_of_message / fabric->segment.count() + 1;
}

}  // namespace

const char* title_of(WorkloadKind kind) {
  const Pattern* pattern = pattern_of(kind);
  if (kind == WorkloadKind::c3) return "GEMM beside a collective";
  return pattern != nullptr ? pattern->title : "all-to-all";
}

TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const WorkloadKind kind = scenario.workload.kind;
  const Pattern* pattern = pattern_of(kind);
  TaskGraph graph;
  if (pattern != nullptr) {
    graph = lower_pattern(*pattern, scenario, cluster, mode);
  } else if (kind == WorkloadKind::c3) {
    graph = lower_c3(scenario, cluster, strategy_of(scenario, cluster, mode));
  } else {
    graph = lower_all_to_all(scenario, cluster, mode);
  }
  graph.verify();
  return graph;
}

Bytes estimated_memory(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const Pattern* pattern = pattern_of(scenario.workload.kind);
  Counts counts;
  if (pattern != nullptr) {
    counts = count_pattern(*pattern, scenario, cluster, mode);
  } else if (scenario.workload.kind == WorkloadKind::c3) {
    counts = count_c3(scenario, cluster, mode);
  } else {
    counts = count_all_to_all(scenario, cluster);
  }
  // Per item: itself. Per send: itself, its latch here and in the engine, the message in flight, in
  // segments, and its event. Per GPU: WGs and queues. Then the links.
  const std::int64_t message = counts.sends == 0 ? 0 : counts.bytes / counts.sends;
  const std::int64_t pieces =
      std::max(segments(cluster.spec.scale_up, message), segments(cluster.spec.scale_out, message));
  const std::int64_t per_send = static_cast<std::int64_t>(sizeof(Send) + sizeof(Latch)) + 16 + 16 +
                                Transport::memory_per_message().count() * pieces;
  // Of a CU: its free resources, its accounts, and a shared server.
  const std::int64_t per_gpu = 200'000 + std::int64_t{cluster.spec.gpu.cus} * 200;
  return bytes(counts.items * static_cast<std::int64_t>(sizeof(Item)) + counts.sends * per_send +
               std::int64_t{cluster.gpus()} * per_gpu) +
         Transport::memory(cluster.network);
}

}  // namespace weft
