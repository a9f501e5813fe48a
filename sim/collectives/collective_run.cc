#include "sim/collectives/collective_run.h"

#include <algorithm>

#include "sim/core/assert.h"

namespace weft {
namespace {

// A channel that streams stores in at most this many parts, of at least this many bytes: its copy
// and the transfer over the link then overlap almost fully.
constexpr std::int64_t kMostParts = 4;
constexpr std::int64_t kMostPartsOfPeer = 16;  // all active channels share one link
constexpr std::int64_t kLeastPart = 16 * 1024;

}  // namespace

CollectiveRun::CollectiveRun(TaskGraph& graph, const Cluster& cluster, const CollectiveCall& call,
                             RankGroup group, CollectiveChoice choice)
    : graph_(graph), cluster_(cluster), call_(call), group_(std::move(group)), choice_(choice) {}

std::int64_t CollectiveRun::on_wire(std::int64_t size) const {
  switch (choice_.protocol) {
    case Protocol::ll:
      return 2 * size;
    case Protocol::ll128:
      return round_up(size * 16, 15);
    case Protocol::simple:
      return size;
  }
  SIM_ASSERT(false);
}

Kernel CollectiveRun::kernel(std::uint32_t rank, std::uint32_t grid) const {
  const GpuSpec& gpu = cluster_.spec.gpu;
  const WgShape& channel = gpu.collective.channel;
  const ProtocolSpec& protocol =
      gpu.collective.protocols[static_cast<std::size_t>(choice_.protocol)];
  const bool dma = call_.options.executor == CollectiveExecutor::dma;
  Kernel kernel{
      .gpu = GpuId(group_.gpus[rank]), .op = call_.operator_id, .role = KernelRole::collective};
  kernel.executor = dma ? Executor::dma : Executor::cu;
  kernel.wg = footprint(channel.threads, channel.registers_per_thread, channel.lds, gpu.wave_size);
  kernel.persistent = true;
  kernel.work_list = WorkList::static_list;
  kernel.max_grid = grid;
  kernel.launch = call_.launch;
  if (!dma) kernel.startup = startup_of(gpu.collective, protocol, group_, grid);
  kernel.flag = dma ? gpu.dma.signal : protocol.step;
  kernel.puts_by = InitiatedBy::proxy;  // the library's network thread
  kernel.handover = protocol.handover;
  kernel.cus = call_.cus;
  kernel.priority = call_.priority;
  return kernel;
}

KernelId CollectiveRun::add(Kernel kernel, std::uint32_t rank) {
  if (graph_.items.added() == 0) {
    graph_.items.add(item({.work = graph_.add_work({})}, 1, LatchId::none(), LatchId::none()));
  }
  kernel.team_first = static_cast<std::uint32_t>(graph_.kernels.size()) - rank;
  kernel.team_size = ranks();
  return graph_.add_kernel(kernel,
                           call_.after.empty() ? std::vector<KernelId>{} : call_.after[rank]);
}

// Between nodes, what arrives and is not received by an item is copied out of a buffer: written,
// read, written.
LatchId CollectiveRun::send(std::uint32_t from, std::uint32_t to, std::int64_t size,
                            LatchId arrives, bool taken_in) {
  const bool copied = !taken_in && leaves_node(from, to);
  const LatchId out = graph_.add_latch(1);
  graph_.add_send({.to = group_.gpus[to],
                   .size = static_cast<std::uint32_t>(on_wire(std::max<std::int64_t>(size, 1))),
                   .arrives = arrives,
                   .op = static_cast<std::uint16_t>(call_.operator_id.value),
                   .receive_traffic = copied ? std::uint8_t{3} : std::uint8_t{1}});
  return out;
}

Duration CollectiveRun::copy_time(const Amount& amount, std::int64_t block) const {
  const CollectiveSpec& library = cluster_.spec.gpu.collective;
  const ProtocolSpec& protocol = library.protocols[static_cast<std::size_t>(choice_.protocol)];
  const std::int64_t size = std::max(amount.in, amount.out) * block;
  Bandwidth rate = protocol.rate;
  if (amount.in > 0 && amount.out > 0 && protocol.relay_rate.count() > 0) {
    rate = protocol.relay_rate;
  }
  if (rate.count() == 0) return wire_time(size, library.channel_rate);
  const Duration alone = transfer_time(bytes(size), of_what_moves(rate));
  if (choice_.protocol != Protocol::ll) return alone;
  // The first line of each thread is part of the step's latency, apart from `line`; only the bytes
  // beyond it take longer.
  const std::int64_t lines = library.channel.threads * 8;
  const std::int64_t at_once = std::min(size, lines);
  const auto line = Duration::from_count(protocol.line.count() * at_once / lines);
  return line + alone - transfer_time(bytes(at_once), rate);
}

// Reductions add up numbers; all other collectives move bytes.
Bandwidth CollectiveRun::of_what_moves(Bandwidth rate) const {
  if (reduces(call_.op)) return rate;
  const ProtocolSpec& protocol =
      cluster_.spec.gpu.collective.protocols[static_cast<std::size_t>(choice_.protocol)];
  return fraction_of(rate, protocol.of_bytes);
}

CollectiveRun::WorkKind CollectiveRun::work(const Amount& amount, std::int64_t block,
                                            Duration alone, Way way) {
  const std::int64_t out = amount.out * block;
  Work work;
  work.traffic = bytes(amount.traffic * block + (way == Way::staged ? out : 0));
  work.memory_alone = alone;
  if (out > 0 && way == Way::streamed) {
    const bool of_peer = has_peer_parts(cluster_, call_, group_);
    work.shares = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        on_wire(out) / kLeastPart, 1, of_peer ? kMostPartsOfPeer : kMostParts));
  }
  return {.work = graph_.add_work(work), .bytes = out > 0 ? out : amount.in * block};
}

Item CollectiveRun::item(const WorkKind& kind, std::int64_t size, LatchId counts_down,
                         LatchId waits_for) {
  __extension__ using Wide = __int128;
  constexpr std::int64_t kFits = INT64_MAX / (2 * Item::kUnit);
  SIM_ASSERT(size <= kind.bytes);
  const auto scale = static_cast<std::uint32_t>(
      kind.bytes < kFits ? round_up(size * Item::kUnit, kind.bytes)
                         : (Wide{size} * Item::kUnit + kind.bytes - 1) / kind.bytes);
  return {.counts_down = counts_down,
          .waits_for = waits_for,
          .work = kind.work & 0xFFU,
          .scale = scale & 0xFFFFFFU};
}

}  // namespace weft
