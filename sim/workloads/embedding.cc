#include "sim/workloads/embedding.h"

#include <algorithm>

namespace weft {
namespace {

constexpr std::int64_t kLoadBytes = 16;  // one load of one thread
constexpr std::int64_t kIndexBytes = 8;  // of one looked-up row

std::int64_t round_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

}  // namespace

Work embedding_work(const EmbeddingWork& embedding, const GpuSpec& gpu, int wgs_on_cu,
                    Result result) {
  const std::int64_t row_bytes = embedding.dim * size_of(embedding.dtype).count();
  const std::int64_t lanes = round_up(row_bytes, kLoadBytes);
  const std::int64_t threads = embedding.wg.threads;
  // A row is read by `lanes` threads; the WG works on as many pooled rows at once as it has lanes
  // for.
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, threads / lanes);
  const std::int64_t passes = round_up(lanes, threads);
  const std::int64_t rounds = round_up(embedding.rows_per_wg, rows_at_once);
  const std::int64_t steps = round_up(embedding.pooling, embedding.wg.loads_in_flight);

  const std::int64_t lookups = std::int64_t{embedding.rows_per_wg} * embedding.pooling;
  Work work;
  work.traffic = bytes(lookups * (row_bytes + kIndexBytes));
  if (result == Result::written_here) work.traffic += bytes(embedding.rows_per_wg * row_bytes);
  // Each step reads indices, then the rows they name: two latencies, one after the other.
  work.memory_alone = longer(gpu.memory.latency * (rounds * passes * steps * 2),
                             transfer_time(work.traffic, gpu.memory.bandwidth));
  work.flops = flops(lookups * embedding.dim);
  // Zero copy: every round's rows are stored as they are done. Beyond 8 parts nothing changes any
  // more.
  if (result == Result::stored_at_peer) {
    work.shares = static_cast<std::uint32_t>(std::min<std::int64_t>(rounds, 8));
  }
  // Adds, so half of the peak, which counts multiply-adds; a WG of few waves uses part of a CU.
  work.arithmetic_share = share_of_cu(gpu, embedding.wg.threads);
  work.arithmetic_alone =
      arithmetic_time(flops(work.flops.count() * 2), gpu.fp32_vector, gpu, work.arithmetic_share);
  // Sharing the CU with all its residents it still ends before the memory does: never the limit.
  if (work.arithmetic_alone * wgs_on_cu <= work.memory_alone) work.arithmetic_alone = Duration{};
  return work;
}

Grid embedding_grid(const Scenario& scenario, const Cluster& cluster, int extra_registers) {
  const EmbeddingWork& work = scenario.workload.embedding;
  const GpuSpec& gpu = cluster.spec.gpu;
  const int on_cu = resident(gpu, work.wg, extra_registers);
  Grid grid;
  grid.name = "embedding";
  grid.gpus = cluster.gpus();
  grid.unit = static_cast<std::uint32_t>(work.batch / grid.gpus / work.rows_per_wg);
  grid.per_peer = grid.unit * static_cast<std::uint32_t>(work.tables_per_gpu);
  grid.in_a_row = grid.unit;
  grid.result_bytes = std::int64_t{work.rows_per_wg} * work.dim * size_of(work.dtype).count();
  grid.wg = work.wg;
  grid.written = embedding_work(work, gpu, on_cu, Result::written_here);
  grid.stored = embedding_work(work, gpu, on_cu, Result::stored_at_peer);
  grid.jitter = work.jitter;
  grid.stream = "embedding/jitter";
  return grid;
}

// A WG adds the gradient of each of its pooled rows to the rows that were pooled: it reads the
// gradients once, and reads and writes what it pooled. A step is the rows' indices, then the rows;
// writes are posted.
Grid embedding_backward_grid(const Scenario& scenario, const Cluster& cluster,
                             int extra_registers) {
  Grid grid = embedding_grid(scenario, cluster, extra_registers);
  const EmbeddingWork& work = scenario.workload.embedding;
  const std::int64_t rows = std::int64_t{work.rows_per_wg} * work.pooling;
  grid.name = "embedding_backward";
  grid.written.traffic += bytes(rows * work.dim * size_of(work.dtype).count());
  grid.written.memory_alone =
      longer(grid.written.memory_alone,
             transfer_time(grid.written.traffic, cluster.spec.gpu.memory.bandwidth));
  grid.stored = grid.written;
  grid.input_bytes = grid.unit * grid.result_bytes;
  return grid;
}

}  // namespace weft
