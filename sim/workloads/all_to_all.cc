#include "sim/workloads/all_to_all.h"

#include <algorithm>
#include <numeric>

#include "sim/core/assert.h"
#include "sim/workloads/grid.h"

namespace weft {
namespace {

// How a pair's bytes are cut: `pieces` of `size`, the last one shorter.
struct Pieces {
  std::int64_t size;
  std::int64_t pieces;
  std::int64_t workers;  // that share a pair: each starts with a piece of its own
  [[nodiscard]] std::int64_t bytes_of(std::int64_t piece, std::int64_t total) const {
    return std::min(size, total - piece * size);
  }
};

// A channel moves at most a chunk in one step, and a small call is spread over all channels as long
// as a piece keeps 4 KiB: below that a step's latency outweighs its bytes.
Pieces cut(Bytes per_pair, std::int64_t peers, std::int64_t channels, Bytes chunk) {
  constexpr std::int64_t kLeast = 4096;
  constexpr std::int64_t kMost = std::int64_t{1} << 30U;  // a message's size has 32 bits
  const std::int64_t total = per_pair.count();
  const std::int64_t spread = (channels + peers - 1) / peers;
  const std::int64_t spread_size = std::max(kLeast, (total + spread - 1) / spread);
  const std::int64_t size = std::min({total, chunk.count(), spread_size, kMost});
  return {.size = size, .pieces = (total + size - 1) / size, .workers = spread};
}

// The work of moving one piece. `staged`: copied into a buffer that the NIC sends from, so written
// as well as read. `command`: an engine's first piece for a peer, which pays the fixed cost of the
// command.
Work piece_work(const GpuSpec& gpu, CollectiveExecutor executor, std::int64_t size, bool staged,
                bool command) {
  const bool dma = executor == CollectiveExecutor::dma;
  Work work;
  work.traffic = bytes(size * (staged ? 2 : 1));
  work.memory_alone = transfer_time(bytes(size), dma ? gpu.dma.rate : gpu.collective.exchange_rate);
  if (command) work.fixed = gpu.dma.schedule;
  return work;
}

WgFootprint channel_footprint(const GpuSpec& gpu) {
  const WgShape& wg = gpu.collective.channel;
  return footprint(wg.threads, wg.registers_per_thread, wg.lds, gpu.wave_size);
}

}  // namespace

std::uint32_t spreading_stride(std::uint32_t gpus) {
  auto stride = static_cast<std::uint32_t>(std::uint64_t{gpus} * 618 / 1000);
  while (std::gcd(stride, gpus) != 1) ++stride;
  return stride;
}

std::int64_t pieces_per_pair(const GpuSpec& gpu, CollectiveExecutor executor, Bytes bytes_per_pair,
                             std::int64_t gpus) {
  const int workers =
      executor == CollectiveExecutor::dma ? gpu.dma.engines : gpu.collective.channels;
  return cut(bytes_per_pair, gpus - 1, workers, gpu.collective.chunk).pieces;
}

std::vector<KernelId> add_all_to_all(TaskGraph& graph, const Cluster& cluster,
                                     const AllToAllCall& call) {
  const GpuSpec& gpu = cluster.spec.gpu;
  const std::uint32_t gpus = cluster.gpus();
  const bool dma = call.executor == CollectiveExecutor::dma;
  const int channels = call.channels > 0 ? call.channels : gpu.collective.channels;
  const auto workers = static_cast<std::uint32_t>(dma ? gpu.dma.engines : channels);
  const Pieces pieces = cut(call.bytes_per_pair, gpus - 1, workers, gpu.collective.chunk);
  const std::uint32_t stride = spreading_stride(gpus);

  const auto arrivals = static_cast<std::uint32_t>(pieces.pieces * (gpus - 1));
  std::vector<LatchId> received;
  for (std::uint32_t g = 0; g < gpus; ++g) received.push_back(graph.add_latch(arrivals));
  std::vector<KernelId> kernels;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const GpuId id(g);
    Kernel kernel{.gpu = id, .op = call.op, .role = KernelRole::collective};
    kernel.executor = dma ? Executor::dma : Executor::cu;
    kernel.wg = channel_footprint(gpu);
    kernel.persistent = true;
    kernel.max_grid = workers;
    kernel.launch = call.launch;
    kernel.cus = call.cus;
    kernel.priority = call.priority;
    const ProtocolSpec& simple =
        gpu.collective.protocols[static_cast<std::size_t>(Protocol::simple)];
    if (!dma) kernel.startup = simple.startup;
    kernel.flag = dma ? gpu.dma.signal : simple.step;
    kernel.finish = received[g];
    kernel.puts_by = InitiatedBy::proxy;  // the library's network thread
    kernel.first_item = static_cast<std::uint32_t>(graph.items.size());
    for (std::int64_t piece = 0; piece < pieces.pieces; ++piece) {
      const std::int64_t size = pieces.bytes_of(piece, call.bytes_per_pair.count());
      for (std::uint32_t step = 1; step < gpus; ++step) {
        const std::uint32_t peer =
            static_cast<std::uint32_t>((g + std::uint64_t{step} * stride) % gpus);
        const bool staged = cluster.node_of(GpuId(peer)) != cluster.node_of(id);
        const LatchId out = graph.add_latch(1);
        graph.add_send({.to = peer,
                        .size = static_cast<std::uint32_t>(size),
                        .arrives = received[peer],
                        .receive_traffic = static_cast<std::uint16_t>(staged ? 3 : 1),
                        .op = static_cast<std::uint16_t>(call.op.value)});
        graph.items.push_back({.counts_down = out,
                               .waits_for = LatchId::none(),
                               .work = graph.add_work(piece_work(gpu, call.executor, size, staged,
                                                                 dma && piece < pieces.workers)) &
                                       0xFFU,
                               .scale = Item::kUnit});
      }
    }
    kernel.items = static_cast<std::uint32_t>(graph.items.size()) - kernel.first_item;
    kernels.push_back(
        graph.add_kernel(kernel, call.after.empty() ? std::vector<KernelId>{} : call.after[g]));
  }
  return kernels;
}

TaskGraph lower_all_to_all(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  SIM_ASSERT(mode == Mode::bulk);
  TaskGraph graph;
  const OperatorId op =
      graph.operators.push_back({.name = "all_to_all", .role = KernelRole::collective});
  add_all_to_all(graph, cluster,
                 {.bytes_per_pair = scenario.workload.all_to_all.bytes_per_pair,
                  .executor = scenario.collective.executor,
                  .op = op,
                  .launch = launch_gap(cluster.spec.gpu.launch, scenario.run.launch),
                  .after = {},
                  .cus = {}});
  return graph;
}

}  // namespace weft
