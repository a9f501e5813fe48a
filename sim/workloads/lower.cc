#include "sim/workloads/lower.h"

#include <array>

#include "sim/core/assert.h"
#include "sim/workloads/all_to_all.h"
#include "sim/workloads/embedding.h"

namespace weft {
namespace {

struct Counts {
  std::int64_t items = 0;
  std::int64_t sends = 0;
};

Counts count_embedding(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  const std::int64_t gpus = cluster.gpus();
  const EmbeddingWork& work = scenario.workload.embedding;
  const std::int64_t per_destination = wgs_per_destination(work, static_cast<int>(gpus));
  const std::int64_t wgs = gpus * gpus * per_destination;
  if (mode == Mode::fused) {  // of zero copy, one store a WG and one flag a slice
    const std::int64_t slices = per_destination / scenario.fused.slice_wgs;
    const bool stores = cluster.spec.gpus_per_node > 1;
    return {.items = wgs,
            .sends = gpus * (gpus - 1) * (slices + 1 + (stores ? per_destination : 0))};
  }
  const std::int64_t bytes_per_pair =
      per_destination * work.rows_per_wg * work.dim * size_of(work.dtype).count();
  const std::int64_t pieces = bytes_per_pair / cluster.spec.gpu.collective.chunk.count() +
                              (mode == Mode::kernel ? scenario.kernel.chunks : 1);
  return {.items = wgs + gpus * (gpus - 1) * pieces, .sends = gpus * (gpus - 1) * pieces};
}

Counts count_all_to_all(const Scenario& scenario, const Cluster& cluster, Mode) {
  const std::int64_t gpus = cluster.gpus();
  const std::int64_t pieces = scenario.workload.all_to_all.bytes_per_pair.count() /
                                  cluster.spec.gpu.collective.chunk.count() +
                              1;
  return {.items = gpus * (gpus - 1) * pieces, .sends = gpus * (gpus - 1) * pieces};
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
  // Per item: itself. Per send: itself, its latch, the engine's two words for the latch, the
  // message in flight and its event. Per GPU: WGs, queues and links; generous, as vectors grow by
  // doubling.
  constexpr std::int64_t kPerSend = sizeof(Send) + sizeof(Latch) + 8 + 2 * 48 + 16;
  constexpr std::int64_t kPerGpu = 200'000;
  const std::int64_t size = counts.items * static_cast<std::int64_t>(sizeof(Item)) +
                            counts.sends * kPerSend + std::int64_t{cluster.gpus()} * kPerGpu;
  return bytes(size);
}

}  // namespace weft
