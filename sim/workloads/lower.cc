#include "sim/workloads/lower.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/collectives/collective.h"
#include "sim/collectives/rank_group.h"
#include "sim/core/assert.h"
#include "sim/workloads/c3.h"
#include "sim/workloads/destination_order.h"
#include "sim/workloads/embedding.h"
#include "sim/workloads/gemm.h"
#include "sim/workloads/gemv.h"
#include "sim/workloads/stragglers.h"

namespace weft {
namespace {

using Version = KernelVersion;

// The operator of a pair as WGs by peer.
struct PeerKernel {
  Computes computes;
  Travels travels;
  Grid (*grid)(const Workload&, const GpuSpec&, std::uint32_t gpus, const Version&);
  Grid (*shape)(const Workload&, const GpuSpec&, std::uint32_t gpus);  // not what its WGs do
};

Grid bag_grid(const Workload& work, const GpuSpec& gpu, std::uint32_t gpus,
              const Version& version) {
  return embedding_grid(work.embedding, gpu, gpus, version);
}
Grid bag_shape(const Workload& work, const GpuSpec& /*gpu*/, std::uint32_t gpus) {
  return embedding_shape(work.embedding, gpus);
}
Grid backward_grid(const Workload& work, const GpuSpec& gpu, std::uint32_t gpus,
                   const Version& version) {
  return embedding_backward_grid(work.embedding, gpu, gpus, version);
}
Grid backward_shape(const Workload& work, const GpuSpec& /*gpu*/, std::uint32_t gpus) {
  return embedding_backward_shape(work.embedding, gpus);
}
Grid rows_grid(const Workload& work, const GpuSpec& gpu, std::uint32_t gpus,
               const Version& version) {
  return gemv_grid(work.gemv, gpu, gpus, version);
}
Grid rows_shape(const Workload& work, const GpuSpec& gpu, std::uint32_t gpus) {
  return gemv_grid(work.gemv, gpu, gpus, {});
}
Grid tiles_grid(const Workload& work, const GpuSpec& gpu, std::uint32_t gpus,
                const Version& version) {
  return gemm_grid(work.gemm, gpu, gpus, version);
}
Grid tiles_shape(const Workload& work, const GpuSpec& /*gpu*/, std::uint32_t gpus) {
  return gemm_shape(work.gemm, gpus);
}

// A new operator is one file and one row; a new pair of these is a row of kKindRows.
constexpr std::array kPeerKernels{
    PeerKernel{Computes::pooling, Travels::result, bag_grid, bag_shape},
    PeerKernel{Computes::pooling, Travels::input, backward_grid, backward_shape},
    PeerKernel{Computes::gemv, Travels::result, rows_grid, rows_shape},
    PeerKernel{Computes::gemm, Travels::result, tiles_grid, tiles_shape},
    PeerKernel{Computes::gemm, Travels::input, tiles_grid, tiles_shape},
};

const PeerKernel& kernel_of(const KindRow& pair) {
  const auto* const found =
      std::find_if(kPeerKernels.begin(), kPeerKernels.end(), [&pair](const PeerKernel& row) {
        return row.computes == pair.computes && row.travels == pair.travels;
      });
  SIM_ASSERT(found != kPeerKernels.end());
  return *found;
}

Grid grid_of(const Scenario& scenario, const Cluster& cluster, const Version& version) {
  return kernel_of(row_of(scenario.workload.kind))
      .grid(scenario.workload, cluster.spec.gpu, cluster.gpus(), version);
}

TaskGraph lower_pair(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const OverlapOptions options = overlap_options(scenario);
  const Grid grid = grid_of(scenario, cluster, version_in(mode, options, cluster.spec.gpu));
  const CollectiveOp op = collective_of(scenario.workload);
  const Overlap overlap{.options = options,
                        .cluster = cluster,
                        .grid = grid,
                        .op = op,
                        .travels = row_of(scenario.workload.kind).travels,
                        .teams = {team_of_all(cluster.gpus())},
                        .collective = name_of(op)};
  TaskGraph graph;
  lower_overlap(graph, overlap, mode);
  return graph;
}

CollectiveCounts count_pair(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const KindRow& pair = row_of(scenario.workload.kind);
  const Grid grid = kernel_of(pair).shape(scenario.workload, cluster.spec.gpu, cluster.gpus());
  const CollectiveOp op = collective_of(scenario.workload);
  const double gpus = cluster.gpus();
  const double pairs = gpus * (gpus - 1);
  const double wgs = gpus * gpus * grid.per_peer;
  const std::int64_t bytes_per_pair = pair.travels == Travels::input
                                          ? grid.units() * grid.input_bytes
                                          : grid.bytes_of(grid.per_peer);
  if (mode == Mode::fused) {  // of zero copy, one store a WG and one flag a slice
    const auto slices = static_cast<double>(std::max<std::int64_t>(
        1, grid.per_peer / (std::int64_t{scenario.fused.slice_wgs} * grid.parts)));
    if (pair.travels == Travels::input) {  // in pieces, each with its flag
      const std::int64_t units =
          std::max<std::int64_t>(1, std::int64_t{scenario.fused.slice_wgs} / grid.unit);
      const std::int64_t cuts = grid.units() / units * input_pieces(units * grid.input_bytes);
      const auto pieces = static_cast<double>(cuts);
      return {.items = wgs + pairs * pieces,
              .sends = 2 * pairs * pieces,
              .bytes = pairs * static_cast<double>(bytes_per_pair)};
    }
    const double stores = cluster.spec.gpus_per_node > 1 ? grid.per_peer : 0;
    const double phases = op == CollectiveOp::all_reduce ? 2 : 1;
    return {.items = wgs + (op == CollectiveOp::all_to_all ? 0 : gpus * slices),
            .sends = phases * pairs * (slices + 1 + stores),
            .bytes = phases * pairs * static_cast<double>(bytes_per_pair)};
  }
  const std::int64_t chunks = mode == Mode::kernel ? scenario.kernel.chunks : 1;
  CollectiveCall call;
  call.op = op;
  call.buffer = bytes((bytes_per_pair + chunks - 1) / chunks * cluster.gpus());
  call.options = scenario.collective;
  const CollectiveCounts each = count_collective(cluster, call);
  const auto times = static_cast<double>(chunks);
  return {
      .items = wgs + times * each.items, .sends = times * each.sends, .bytes = times * each.bytes};
}

// One for each group.
struct Calls {
  std::vector<CollectiveCall> each;
  GroupsAtOnce at_once;
};
Calls calls_of(const Scenario& scenario, const Cluster& cluster) {
  const CollectiveWork& work = scenario.workload.collective;
  const auto groups = groups_of(work.groups, scenario.cluster.gpus());
  Calls calls{.each = {}, .at_once = GroupsAtOnce(cluster, groups)};
  for (const std::vector<std::uint32_t>& ranks : groups) {
    CollectiveCall& call = calls.each.emplace_back();
    call.op = work.op;
    call.buffer = work.bytes;
    call.options = scenario.collective;
    call.launch = launch_gap(cluster.spec.gpu.launch, scenario.run.launch);
    call.ranks = ranks;
    call.root = static_cast<std::uint32_t>(work.root);
    call.target = static_cast<std::uint32_t>(work.target);
    for (const std::vector<std::int64_t>& row : work.matrix) {
      call.pair_bytes.insert(call.pair_bytes.end(), row.begin(), row.end());
    }
    if (!work.matrix.empty()) {  // as if all pairs had the most
      const std::int64_t most = *std::max_element(call.pair_bytes.begin(), call.pair_bytes.end());
      call.buffer = bytes(most * static_cast<std::int64_t>(work.matrix.size()));
    }
  }
  return calls;
}

TaskGraph lower_calls(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  SIM_ASSERT(mode == Mode::bulk);
  TaskGraph graph;
  const OperatorId op = graph.operators.push_back(
      {.name = name_of(scenario.workload.collective.op), .role = KernelRole::collective});
  Calls calls = calls_of(scenario, cluster);
  for (CollectiveCall& call : calls.each) {
    call.at_once = &calls.at_once;
    call.operator_id = op;
    add_collective(graph, cluster, call);
  }
  return graph;
}

CollectiveCounts count_calls(const Scenario& scenario, const Cluster& cluster) {
  CollectiveCounts all;
  Calls calls = calls_of(scenario, cluster);
  for (CollectiveCall& call : calls.each) {
    call.at_once = &calls.at_once;
    const CollectiveCounts counts = count_collective(cluster, call);
    all.items += counts.items;
    all.sends += counts.sends;
    all.bytes += counts.bytes;
  }
  return all;
}

CollectiveCounts count_c3(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const GemmWork& gemm = scenario.workload.gemm;
  const std::int64_t rows = gemm.m / gemm.tile_m + 1;
  const std::int64_t columns = gemm.n / gemm.tile_n + 1;
  const double tiles = static_cast<double>(rows) * static_cast<double>(columns) * gemm.split_k;
  CollectiveCall call;
  call.op = scenario.workload.collective.op;
  call.buffer = scenario.workload.collective.bytes;
  call.options = scenario.collective;
  if (uses_copy_engines(mode)) call.options.executor = CollectiveExecutor::dma;
  CollectiveCounts counts = count_collective(cluster, call);
  counts.items += cluster.gpus() * tiles;
  return counts;
}

// A message in flight is one segment of those it is cut into; the rest wait in the same queue.
double segments(const std::optional<FabricSpec>& fabric, double bytes_of_message) {
  if (!fabric || fabric->segment.count() == 0) return 1;
  const auto segment = static_cast<double>(fabric->segment.count());
  return std::max(1.0, bytes_of_message / segment);
}

}  // namespace

namespace {

const char* phase_of(const Workload& workload) {
  switch (workload.phase) {
    case Phase::training:
      return "a training step";
    case Phase::inference:
      return "inference";
    case Phase::prefill:
      return "prefill";
    case Phase::decode:
      return "decode";
  }
  SIM_ASSERT(false);
}

}  // namespace

std::string title_of(const Workload& workload) {
  const KindRow& row = row_of(workload.kind);
  if (row.model != nullptr) {
    return std::string(row.title) + ", " + phase_of(workload);
  }
  if (row.family != Family::collective) return row.title;
  std::string title = name_of(workload.collective.op);  // "all-to-all"
  std::replace(title.begin(), title.end(), '_', '-');
  return title;
}

LastKernels lower_overlap(TaskGraph& graph, const Overlap& overlap, Mode mode) {
  switch (mode) {
    case Mode::bulk:
      return lower_chunked(graph, overlap, 1);
    case Mode::kernel:
      return lower_chunked(graph, overlap,
                           static_cast<std::uint32_t>(overlap.options.kernel.chunks));
    case Mode::fused:
      return overlap.travels == Travels::result ? lower_fused_producer(graph, overlap)
                                                : lower_fused_consumer(graph, overlap);
    default:
      SIM_ASSERT(false);
  }
}

TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode, int partition_cus) {
  TaskGraph graph;
  if (is_pair(scenario.workload.kind)) {
    graph = lower_pair(scenario, cluster, mode);
  } else if (scenario.workload.kind == WorkloadKind::c3) {
    const C3Pair pair = c3_pair(scenario);
    const int cus = partition_cus > 0 ? partition_cus : pair.options.partition_cus;
    graph = lower_c3(pair, cluster, strategy_of(pair, cluster.spec.gpu, mode, cus));
  } else {
    graph = lower_calls(scenario, cluster, mode);
  }
  slow_stragglers(graph, cluster);
  graph.verify();
  return graph;
}

bool order_changes(const Scenario& scenario, const Cluster& cluster, DestinationOrder order) {
  const WorkloadKind kind = scenario.workload.kind;
  if (!is_pair(kind) || !results_travel(kind)) return false;
  const KernelVersion fused = fused_version(scenario.fused);
  const Grid grid = grid_of(scenario, cluster, fused);
  const std::int64_t wgs = std::int64_t{grid.gpus} * grid.per_peer;
  if (wgs <= resident_on_gpu(cluster.spec.gpu, grid.wg, fused)) return false;
  std::vector<std::uint32_t> node_of;
  for (std::uint32_t gpu = 0; gpu < grid.gpus; ++gpu) {
    node_of.push_back(cluster.node_of(GpuId(gpu)));
  }
  const auto slices = grid.per_peer / (static_cast<std::uint32_t>(scenario.fused.slice_wgs) *
                                       static_cast<std::uint32_t>(grid.parts));
  const auto in = [&](DestinationOrder which) { return slice_order(node_of, which, 0, slices); };
  const auto same = [](const Logical& a, const Logical& b) {
    return a.peer == b.peer && a.index == b.index;
  };
  const std::vector<Logical> now = in(scenario.fused.order);
  const std::vector<Logical> then = in(order);
  return !std::equal(now.begin(), now.end(), then.begin(), then.end(), same);
}

Needs estimated_needs(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  CollectiveCounts counts;
  if (is_pair(scenario.workload.kind)) {
    counts = count_pair(scenario, cluster, mode);
  } else if (scenario.workload.kind == WorkloadKind::c3) {
    counts = count_c3(scenario, cluster, mode);
  } else {
    counts = count_calls(scenario, cluster);
  }
  return estimated_needs(cluster, counts);
}

Needs estimated_needs(const Cluster& cluster, const CollectiveCounts& counts) {
  // Per item: itself. Per send: itself, its latch here and in the engine, the message in flight, in
  // segments, and its event. Per GPU: WGs and queues. Then the links.
  const double message = counts.sends == 0 ? 0 : counts.bytes / counts.sends;
  const double pieces =
      std::max(segments(cluster.spec.scale_up, message), segments(cluster.spec.scale_out, message));
  const double per_send =
      static_cast<double>(sizeof(Send) + sizeof(Latch) + 16 + 16) +
      static_cast<double>(Transport::memory_per_message().count()) * std::ceil(pieces);
  // Of a CU: its free resources, its accounts, and a shared server.
  const double per_gpu = 200'000.0 + cluster.spec.gpu.cus * 200.0;
  const double memory = counts.items * static_cast<double>(sizeof(Item)) + counts.sends * per_send +
                        cluster.gpus() * per_gpu +
                        static_cast<double>(Transport::memory(cluster.network).count());
  constexpr double kMost = 1e18;  // more than any machine has
  return {.items = counts.items,
          .sends = counts.sends,
          .memory = bytes(static_cast<std::int64_t>(std::min(memory, kMost)))};
}

}  // namespace weft
