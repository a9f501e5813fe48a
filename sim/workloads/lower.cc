#include "sim/workloads/lower.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/core/assert.h"
#include "sim/workloads/all_to_all.h"
#include "sim/workloads/embedding.h"

namespace weft {
namespace {

struct Counts {
  std::int64_t items = 0;
  std::int64_t sends = 0;
  std::int64_t bytes = 0;  // of all sends
};

Counts count_embedding(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const std::int64_t gpus = cluster.gpus();
  const EmbeddingWork& work = scenario.workload.embedding;
  const std::int64_t per_destination = wgs_per_destination(work, static_cast<int>(gpus));
  const std::int64_t wgs = gpus * gpus * per_destination;
  const std::int64_t bytes_per_pair =
      per_destination * work.rows_per_wg * work.dim * size_of(work.dtype).count();
  if (mode == Mode::fused) {  // of zero copy, one store a WG and one flag a slice
    const std::int64_t slices = per_destination / scenario.fused.slice_wgs;
    const bool stores = cluster.spec.gpus_per_node > 1;
    return {.items = wgs,
            .sends = gpus * (gpus - 1) * (slices + 1 + (stores ? per_destination : 0)),
            .bytes = gpus * (gpus - 1) * bytes_per_pair};
  }
  const std::int64_t chunks = mode == Mode::kernel ? scenario.kernel.chunks : 1;
  const std::int64_t pieces =
      chunks * pieces_per_pair(cluster.spec.gpu, scenario.bulk.executor,
                               bytes((bytes_per_pair + chunks - 1) / chunks), gpus);
  return {.items = wgs + gpus * (gpus - 1) * pieces,
          .sends = gpus * (gpus - 1) * pieces,
          .bytes = gpus * (gpus - 1) * bytes_per_pair};
}

Counts count_all_to_all(const Scenario& scenario, const Cluster& cluster, Mode) {
  const std::int64_t gpus = cluster.gpus();
  const std::int64_t pieces = pieces_per_pair(cluster.spec.gpu, scenario.bulk.executor,
                                              scenario.workload.all_to_all.bytes_per_pair, gpus);
  return {.items = gpus * (gpus - 1) * pieces,
          .sends = gpus * (gpus - 1) * pieces,
          .bytes = gpus * (gpus - 1) * scenario.workload.all_to_all.bytes_per_pair.count()};
}

// A message in flight is one segment of those it is cut into; the rest wait in the same queue.
std::int64_t segments(const std::optional<FabricSpec>& fabric, std::int64_t bytes_of_message) {
  if (!fabric || fabric->segment.count() == 0) return 1;
  return bytes_of_message / fabric->segment.count() + 1;
}

struct WorkloadRow {
  WorkloadKind kind;
  const char* title;
  TaskGraph (*lower)(const Scenario&, const Cluster&, Mode);
  Counts (*count)(const Scenario&, const Cluster&, Mode);
};

// A new workload is one file and one row.
constexpr std::array kWorkloads{
    WorkloadRow{WorkloadKind::embedding_all_to_all, "embedding + all-to-all", lower_embedding,
                count_embedding},
    WorkloadRow{WorkloadKind::all_to_all, "all-to-all", lower_all_to_all, count_all_to_all},
};

const WorkloadRow& row_of(WorkloadKind kind) {
  for (const WorkloadRow& row : kWorkloads) {
    if (row.kind == kind) return row;
  }
  SIM_ASSERT(false);
}

}  // namespace

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::bulk:
      return "bulk";
    case Mode::kernel:
      return "kernel";
    case Mode::fused:
      return "fused";
  }
  SIM_ASSERT(false);
}

const char* title_of(WorkloadKind kind) { return row_of(kind).title; }

TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  TaskGraph graph = row_of(scenario.workload.kind).lower(scenario, cluster, mode);
  graph.verify();
  return graph;
}

Bytes estimated_memory(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const Counts counts = row_of(scenario.workload.kind).count(scenario, cluster, mode);
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
