#include "sim/workloads/embedding.h"

#include <algorithm>
#include <string>

#include "sim/core/assert.h"
#include "sim/core/rng.h"
#include "sim/workloads/all_to_all.h"
#include "sim/workloads/embedding_bag.h"

namespace weft {
namespace {

constexpr std::int64_t kLoadBytes = 16;  // one load of one thread
constexpr std::int64_t kIndexBytes = 8;  // of one looked-up row
constexpr int kSimdsPerCu = 4;           // waves that a CU executes at once, on AMD and NVIDIA

std::int64_t round_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// A plain kernel that pools tables [first, last) and writes the results to its own memory.
KernelId add_bag_kernel(TaskGraph& graph, const Scenario& scenario, const Cluster& cluster,
                        std::uint32_t gpu, std::uint32_t first_table, std::uint32_t last_table,
                        OperatorId op, const std::vector<KernelId>& after) {
  const Bag bag(scenario.workload.embedding, cluster.gpus());
  const WgShape& wg = bag.work.wg;
  const GpuSpec& spec = cluster.spec.gpu;
  Kernel kernel{.gpu = GpuId(gpu), .op = op, .role = KernelRole::compute};
  kernel.wg = footprint(wg.threads, wg.registers_per_thread, wg.lds, spec.wave_size);
  kernel.launch = launch_gap(spec.launch, scenario.run.launch);
  kernel.first_item = static_cast<std::uint32_t>(graph.items.size());
  for (std::uint32_t table = first_table; table < last_table; ++table) {
    for (std::uint32_t destination = 0; destination < bag.gpus; ++destination) {
      for (std::uint32_t block = 0; block < bag.blocks; ++block) {
        const Logical logical{destination, table * bag.blocks + block};
        graph.items.push_back(
            {.counts_down = LatchId::none(),
             .waits_for = LatchId::none(),
             .work = 0,
             .scale = scale_of(bag, scenario.run.seed, gpu, logical) & 0xFFFFFFU});
      }
    }
  }
  kernel.items = static_cast<std::uint32_t>(graph.items.size()) - kernel.first_item;
  return graph.add_kernel(kernel, after);
}

// Bulk is one chunk; kernel-granular overlap cuts the tables into `chunks`, pools chunk i + 1 on
// one stream while the all-to-all of chunk i runs on another.
TaskGraph lower_chunked(const Scenario& scenario, const Cluster& cluster, std::uint32_t chunks) {
  const Bag bag(scenario.workload.embedding, cluster.gpus());
  const auto tables = static_cast<std::uint32_t>(bag.work.tables_per_gpu);
  SIM_ASSERT(chunks >= 1);
  SIM_ASSERT(chunks <= tables);
  TaskGraph graph;
  graph.add_work(embedding_work(bag.work, cluster.spec.gpu,
                                resident(cluster.spec.gpu, bag.work.wg, 0), Result::written_here));
  graph.items.reserve(std::size_t{bag.gpus} * bag.gpus * bag.per_destination());

  std::vector<std::vector<KernelId>> bags(bag.gpus);  // the last one of each GPU's stream
  std::vector<std::vector<KernelId>> collectives(bag.gpus);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const auto first = static_cast<std::uint32_t>(std::uint64_t{chunk} * tables / chunks);
    const auto last = static_cast<std::uint32_t>((std::uint64_t{chunk} + 1) * tables / chunks);
    const std::string suffix = chunks == 1 ? "" : "." + std::to_string(chunk);
    const OperatorId bag_op =
        graph.operators.push_back({.name = "embedding" + suffix, .role = KernelRole::compute});
    const OperatorId exchange_op =
        graph.operators.push_back({.name = "all_to_all" + suffix, .role = KernelRole::collective});
    std::vector<std::vector<KernelId>> after(bag.gpus);
    for (std::uint32_t g = 0; g < bag.gpus; ++g) {
      bags[g] = {add_bag_kernel(graph, scenario, cluster, g, first, last, bag_op, bags[g])};
      after[g] = bags[g];
      after[g].insert(after[g].end(), collectives[g].begin(), collectives[g].end());
    }
    const std::int64_t per_pair = std::int64_t{last - first} * bag.blocks * bag.result_bytes;
    const std::vector<KernelId> exchange =
        add_all_to_all(graph, cluster,
                       {.bytes_per_pair = bytes(per_pair),
                        .executor = scenario.bulk.executor,
                        .op = exchange_op,
                        .launch = launch_gap(cluster.spec.gpu.launch, scenario.run.launch),
                        .after = after});
    for (std::uint32_t g = 0; g < bag.gpus; ++g) collectives[g] = {exchange[g]};
  }
  return graph;
}

// Adds on `share` thousandths of one CU, at half of the peak, which counts multiply-adds. One
// division.
Duration arithmetic_time(Flops adds, const GpuSpec& gpu, std::uint32_t share) {
  __extension__ using Wide = unsigned __int128;
  const Wide work = static_cast<Wide>(adds.count()) * 2 * static_cast<Wide>(gpu.cus) * 1000;
  const Wide rate = static_cast<Wide>(gpu.fp32_vector.count()) * share;
  constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
  SIM_ASSERT(work < (static_cast<Wide>(1) << 87U));  // times 10^12 < 2^127
  const Wide ps = (work * kPsPerSecond + rate - 1) / rate;
  SIM_ASSERT(ps <= static_cast<Wide>(INT64_MAX));
  return picoseconds(static_cast<std::int64_t>(ps));
}

}  // namespace

std::uint32_t scale_of(const Bag& bag, std::uint64_t seed, std::uint32_t gpu, Logical wg) {
  if (bag.work.jitter == 0) return Item::kUnit;
  const std::uint64_t id =
      (std::uint64_t{gpu} * bag.gpus + wg.destination) * bag.per_destination() + wg.index;
  const auto width = static_cast<std::int64_t>(bag.work.jitter * Item::kUnit);
  return static_cast<std::uint32_t>(Item::kUnit +
                                    Rng(seed, "embedding/jitter", id).between(-width, width));
}

int resident(const GpuSpec& gpu, const WgShape& wg, int extra_registers) {
  return wgs_per_cu(gpu.cu, footprint(wg.threads, wg.registers_per_thread + extra_registers, wg.lds,
                                      gpu.wave_size));
}

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
  const std::int64_t waves = round_up(threads, gpu.wave_size);
  work.arithmetic_share =
      static_cast<std::uint32_t>(1000 * std::min<std::int64_t>(waves, kSimdsPerCu) / kSimdsPerCu);
  work.arithmetic_alone = arithmetic_time(work.flops, gpu, work.arithmetic_share);
  // Sharing the CU with all its residents it still ends before the memory does: never the limit.
  if (work.arithmetic_alone * wgs_on_cu <= work.memory_alone) work.arithmetic_alone = Duration{};
  return work;
}

std::int64_t wgs_per_destination(const EmbeddingWork& embedding, int gpus) {
  return embedding.batch / gpus / embedding.rows_per_wg * embedding.tables_per_gpu;
}

TaskGraph lower_embedding(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  switch (mode) {
    case Mode::bulk:
      return lower_chunked(scenario, cluster, 1);
    case Mode::kernel:
      return lower_chunked(scenario, cluster, static_cast<std::uint32_t>(scenario.kernel.chunks));
    case Mode::fused:
      return lower_fused_embedding(scenario, cluster);
  }
  SIM_ASSERT(false);
}

}  // namespace weft
