#include "sim/workloads/fused_kernel.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/gpu_model/gather_law.h"
#include "sim/gpu_model/peer_law.h"
#include "sim/scenario/modes.h"

namespace weft {

namespace {

bool are_in_a_node(const Cluster& cluster, const std::vector<std::uint32_t>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](std::uint32_t gpu) {
    return cluster.node_of(GpuId(gpu)) == cluster.node_of(GpuId(gpus[0]));
  });
}

bool each_pair_has_a_link(const Cluster& cluster, const std::vector<std::uint32_t>& gpus) {
  const std::optional<FabricSpec>& fabric = cluster.spec.scale_up;
  return fabric && fabric->topology->has_link_of_each_pair() && are_in_a_node(cluster, gpus);
}

// How many take turns, slice by slice: 1 if one comes after another.
std::uint32_t gpus_in_turn(DestinationOrder order, const Cluster& cluster,
                           const std::vector<std::uint32_t>& gpus) {
  const auto all = static_cast<std::uint32_t>(gpus.size());
  switch (order) {
    case DestinationOrder::in_turn:
    case DestinationOrder::rotating:
      return all;
    case DestinationOrder::staggered:
      return all - 1;
    case DestinationOrder::remote_first:
    case DestinationOrder::local_first:
      return each_pair_has_a_link(cluster, gpus) ? all - 1 : 1;
    case DestinationOrder::given:
      return 1;
  }
  SIM_ASSERT(false);
}

const char* text_of(Senders senders) {
  if (senders == Senders::first_wgs) return " (WGs that compute later)";
  return senders == Senders::cus ? " (CUs of its own)" : " (waves of its own)";
}

}  // namespace

bool each_pair_has_a_link(const Overlap& overlap, const Team& team) {
  return each_pair_has_a_link(overlap.cluster, team.gpus);
}

bool goes_through_switch(const FusedOptions& fused, CollectiveOp op, const Cluster& cluster,
                         const std::vector<std::uint32_t>& gpus) {
  const bool helps = reduces(op) || op == CollectiveOp::all_gather;
  return fused.in_switch && helps && are_in_a_node(cluster, gpus);
}

KernelVersion version_of_pair(Mode mode, const OverlapOptions& options, CollectiveOp op,
                              Travels travels, const Cluster& cluster,
                              const std::vector<std::uint32_t>& gpus) {
  KernelVersion version = version_in(mode, options, cluster.spec.gpu);
  const auto all = static_cast<std::uint32_t>(gpus.size());
  if (mode == Mode::bulk || mode == Mode::kernel) version.in_turn = all;  // it knows no GPUs
  if (mode == Mode::kernel) version.chunks = options.kernel.chunks;
  if (!is_fused(mode)) return version;
  const FusedOptions& fused = options.fused;
  if (travels == Travels::input) {
    version.own_first = fused.own_first;
    version.in_turn = fused.own_first > 0 ? all : 1;
    version.own_apart = fused.own_first == 0;
    return version;
  }
  version.slice_wgs = fused.slice_wgs;
  const bool by_switch = mode != Mode::copy_fed && goes_through_switch(fused, op, cluster, gpus);
  version.in_turn = by_switch ? all : gpus_in_turn(fused.order, cluster, gpus);
  return version;
}

bool goes_through_switch(const Overlap& overlap) {
  return std::all_of(overlap.teams.begin(), overlap.teams.end(), [&](const Team& team) {
    return goes_through_switch(overlap.options.fused, overlap.op, overlap.cluster, team.gpus);
  });
}

FusedSends::FusedSends(const OverlapOptions& options, const Cluster& cluster, const Grid& grid)
    : options_(options), cluster_(cluster), grid_(grid) {}

Kernel FusedSends::kernel(GpuId id, OperatorId op, Wgs wgs) const {
  const FusedOptions& fused = options_.fused;
  const GpuSpec& gpu = cluster_.spec.gpu;
  const WgShape& wg = grid_.wg;
  Kernel kernel{.gpu = id, .op = op, .role = KernelRole::fused};
  const KernelVersion version = fused_version(fused);
  kernel.wg = footprint(wg.threads, compiled(gpu, wg, version).registers, wg.lds, gpu.wave_size);
  kernel.persistent = true;
  kernel.work_list = fused.work_list;
  if (wgs == Wgs::computing) kernel.cus = {.first = sending_cus()};
  if (wgs == Wgs::sending) kernel.cus = {.first = 0, .count = sending_cus()};
  kernel.max_grid =
      static_cast<std::uint32_t>(resident(gpu, wg, version) * cus_in(kernel.cus, gpu.cus));
  if (wgs == Wgs::sending_first) {
    kernel.max_grid = std::min(kernel.max_grid, static_cast<std::uint32_t>(fused.sending_wgs));
    kernel.work_list = WorkList::dynamic_list;  // so that one that has a slot sends for all
    kernel.role = KernelRole::collective;
  }
  if (wgs == Wgs::sending_wave) {  // of the WG that computes: it takes no room of its own
    kernel.wg = kNoRoom;
    kernel.max_grid = static_cast<std::uint32_t>(gpu.cus);
    if (const int waves = fused.sending_waves; waves > 0) {
      kernel.max_grid = std::min(kernel.max_grid, static_cast<std::uint32_t>(waves));
    }
  }
  kernel.launch = compute_gap(gpu.launch, options_.launch);
  kernel.store_rate = fused.put_by == PutBy::thread ? store_rate_of_threads(gpu.peer_store)
                                                    : gpu.peer_store.wg_rate;
  if (wgs == Wgs::sending || wgs == Wgs::sending_wave) {
    kernel.role = KernelRole::collective;
    kernel.store_rate = sending_rate();
  }
  const Bandwidth of_registers = gpu.peer_store.register_rate;
  const bool from_registers =
      wgs == Wgs::sending_first || (wgs == Wgs::sending_wave && fused.unsent == 0);
  if (from_registers && of_registers.count() > 0 && fused.put_by != PutBy::thread) {
    kernel.store_rate = of_registers;
  }
  kernel.flag = gpu.peer_store.flag;
  // A fence for acquiring takes as long as one that waits for a store to a neighbour.
  if (fused.acquire == Acquire::fence && cluster_.spec.scale_up) {
    const int hops = cluster_.spec.scale_up->topology->hops_to_nearest();
    kernel.flag += fence_time(gpu.peer_store, cluster_.spec.scale_up->link.latency * hops);
  }
  kernel.fenced = true;
  kernel.waves_fence = fused.fence_by == FenceBy::wave;
  kernel.puts_by = cluster_.spec.nic ? cluster_.spec.nic->initiated_by : InitiatedBy::gpu;
  return kernel;
}

std::uint32_t FusedSends::sending_cus() const {
  const GpuSpec& gpu = cluster_.spec.gpu;
  const auto most = static_cast<std::uint32_t>(gpu.cus - 1);
  if (options_.fused.sending_cus > 0) {
    return std::min(most, static_cast<std::uint32_t>(options_.fused.sending_cus));
  }
  const std::optional<FabricSpec>& fabric = cluster_.spec.scale_up;
  if (!fabric) return static_cast<std::uint32_t>(round_up(gpu.cus, 8));
  const Bytes piece = options_.fused.piece;
  const Duration one = reading(piece.count()).memory_alone + transfer_time(piece, sending_rate()) +
                       fence_time(gpu.peer_store, fabric->link.latency);
  const Duration by_links = transfer_time(piece, leaving_rate());
  const std::int64_t wgs = round_up(one.count(), std::max<std::int64_t>(1, by_links.count()));
  const int on_cu = resident(gpu, grid_.wg, fused_version(options_.fused));
  const std::int64_t cus = round_up(wgs, std::max(1, on_cu));
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(cus, 1, std::max(1, gpu.cus / 2)));
}

Bandwidth FusedSends::sending_rate() const {
  const PeerStoreSpec& store = cluster_.spec.gpu.peer_store;
  return store.bulk_rate.count() > 0 ? store.bulk_rate : store.wg_rate;
}

Bandwidth FusedSends::leaving_rate() const {
  const FabricSpec& fabric = *cluster_.spec.scale_up;
  return fabric.link.bandwidth * fabric.topology->links_of_endpoint(cluster_.spec.gpus_per_node);
}

Duration FusedSends::lost_while_sending(std::int64_t size, std::size_t results) const {
  const FusedOptions& fused = options_.fused;
  const auto all = static_cast<std::int64_t>(results);
  const std::int64_t waves = std::min<std::int64_t>(all, cluster_.spec.gpu.cus);
  const std::int64_t at_once =
      fused.sending_waves > 0 ? std::min<std::int64_t>(waves, fused.sending_waves) : waves;
  const Duration one = longer(transfer_time(bytes(size), sending_rate()),
                              transfer_time(bytes(size * at_once), leaving_rate()));
  return fraction_of(one * round_up(all, waves), 1 - fused.rate_while_sending);
}

Send FusedSends::flag(std::uint32_t to, LatchId told, Ordered ordered) {
  return {.to = to,
          .size = kFlagBytes,
          .arrives = told,
          .ordered = ordered == Ordered::yes ? std::uint8_t{1} : std::uint8_t{0}};
}

// One queue entry for the payload; if put by waves or threads, one entry for the part of each.
Send FusedSends::put(std::uint32_t to, std::int64_t size) const {
  const int threads = grid_.wg.threads;
  int entries = 1;
  if (options_.fused.put_by == PutBy::thread) entries = threads;
  if (options_.fused.put_by == PutBy::wave) entries = threads / cluster_.spec.gpu.wave_size;
  SIM_ASSERT(size <= UINT32_MAX);
  return {.to = to,
          .size = static_cast<std::uint32_t>(size),
          .entries = static_cast<std::uint16_t>(entries)};
}

LatchId FusedSends::send_slice(TaskGraph& graph, std::uint32_t from, const Addressee& peer,
                               std::int64_t size, std::uint32_t wgs, LatchId done,
                               std::uint32_t parts) const {
  Send send = put(peer.gpu, size);
  send.issued = done;
  const bool own_flag = done.is_none();
  if (same_node(from, peer.gpu)) {
    send.entries = 1;
    send.arrives = peer.there;
    if (own_flag) {
      send.issued = graph.add_latch(1);
      graph.add_send(flag(peer.gpu, peer.told, Ordered::no));
    }
  } else if (own_flag) {  // fence and flag are entries of the same put
    send.arrives = peer.told;
    send.entries = static_cast<std::uint16_t>(send.entries + 2);
  } else {  // the flag after several puts must not overtake them
    send.ordered = 1;
  }
  const LatchId out = graph.add_latch(wgs);
  for (std::uint32_t part = 1; part < parts; ++part) {
    graph.add_send({.to = peer.gpu, .size = send.size / parts});
  }
  send.size -= send.size / parts * (parts - 1);
  graph.add_send(send);
  return out;
}

// Puts come first; then stores, of which only the last is fenced, and after it their flags.
LatchId FusedSends::send_to_all(TaskGraph& graph, std::uint32_t from,
                                const std::vector<Parcel>& parcels) const {
  std::vector<Parcel> near;
  std::vector<Parcel> far;
  for (const Parcel& parcel : parcels) {
    (same_node(from, parcel.to.gpu) ? near : far).push_back(parcel);
  }
  LatchId flags = LatchId::none();
  if (!near.empty()) {
    flags = graph.add_latch(1);
    for (const Parcel& parcel : near) {
      graph.add_send(flag(parcel.to.gpu, parcel.to.told, Ordered::no));
    }
  }
  const LatchId out = graph.add_latch(1);
  for (const Parcel& parcel : far) {
    Send send = put(parcel.to.gpu, parcel.size);
    send.arrives = parcel.to.told;
    send.entries = static_cast<std::uint16_t>(send.entries + 2);
    graph.add_send(send);
  }
  for (const Parcel& parcel : near) {
    graph.add_send({.to = parcel.to.gpu,
                    .size = static_cast<std::uint32_t>(parcel.size),
                    .issued = parcel.to.gpu == near.back().to.gpu ? flags : LatchId::none()});
  }
  return out;
}

LatchId FusedSends::multicast(TaskGraph& graph, std::uint32_t from, std::uint16_t group,
                              std::int64_t size, LatchId told) const {
  Send send{.to = from,
            .size = kFlagBytes,
            .arrives = told,
            .group = group,
            .in_switch = InSwitch::multicasts};
  const LatchId flags = graph.add_latch(1);
  graph.add_send(send);
  send.size = static_cast<std::uint32_t>(size);
  send.arrives = LatchId::none();
  send.issued = flags;
  const LatchId out = graph.add_latch(1);
  graph.add_send(send);
  return out;
}

LatchId FusedSends::load_sum(TaskGraph& graph, std::uint32_t by, std::uint16_t group,
                             std::int64_t size, LatchId sum) const {
  const LatchId out = graph.add_latch(1);
  graph.add_send({.to = by,
                  .size = static_cast<std::uint32_t>(size),
                  .arrives = sum,
                  .group = group,
                  .receive_traffic = 0,
                  .in_switch = InSwitch::reduces});
  return out;
}

Work FusedSends::staged(Work work) const {
  const std::int64_t result = grid_.result_bytes / grid_.parts;
  // Inside a node the copy is the store itself, so data are only read again; for a NIC they are
  // also written.
  const bool for_nic = cluster_.spec.nic.has_value();
  const Work copy = copy_work(cluster_.spec.gpu, grid_.wg, result, for_nic ? result : 0);
  work.traffic += copy.traffic;
  work.memory_alone += copy.memory_alone;
  return work;
}

Work FusedSends::reading(std::int64_t size) const {
  return copy_work(cluster_.spec.gpu, grid_.wg, size, 0);
}

Work FusedSends::reduction(std::int64_t size, std::uint32_t parts) const {
  const GpuSpec& gpu = cluster_.spec.gpu;
  Work work = copy_work(gpu, grid_.wg, size * parts, size);
  if (const std::int64_t load = options_.fused.add_load.count(); load > 0) {
    // Each thread loads one word of every part, each at a different place, before the next ones.
    const auto loads = static_cast<double>(std::int64_t{parts} * round_up(load, kLoadBytes));
    work.memory_alone =
        longer(gather_latency(gpu, loads, {}) * round_up(size, grid_.wg.threads * load),
               transfer_time(work.traffic, gpu.memory.bandwidth));
  }
  work.flops = flops(size / grid_.element_bytes * (grid_.gpus - 1));
  return work;
}

FusedLowering::FusedLowering(TaskGraph& graph, const Overlap& overlap, Senders senders,
                             std::string name)
    : graph_(graph),
      overlap_(overlap),
      options_(overlap.options),
      grid_(overlap.grid),
      senders_(senders),
      sends_(overlap.options, overlap.cluster, overlap.grid),
      name_(std::move(name)) {}

LastKernels FusedLowering::lower() {
  const std::size_t first_send = graph_.sends.size();
  operator_ = graph_.operators.push_back(
      {.name = "fused_" + name_, .role = KernelRole::fused, .part = overlap_.part});
  if (by_role()) {
    sending_ = graph_.operators.push_back({.name = overlap_.collective + text_of(senders_),
                                           .role = KernelRole::collective,
                                           .part = overlap_.collective_part});
  }
  for (const Team& team : overlap_.teams) {
    SIM_ASSERT(team.gpus.size() == grid_.gpus);
    team_ = &team;
    lower_team();
  }
  const bool brought = senders_ == Senders::copy_engines && overlap_.travels == Travels::input;
  if (!brought) graph_.own_sends(first_send, sending_.is_none() ? operator_ : sending_);
  const bool here_last = wgs_add_ && overlap_.op == CollectiveOp::reduce_scatter;
  if (overlap_.travels == Travels::input || here_last || made_.communicating.empty()) {
    made_.communicating = made_.computing;
  } else {
    made_.computing = made_.communicating;
  }
  return made_;
}

Kernel FusedLowering::begin(std::uint32_t rank, FusedSends::Wgs wgs) const {
  const bool computes = wgs == FusedSends::Wgs::all || wgs == FusedSends::Wgs::computing;
  const OperatorId op = computes ? operator_ : sending_;
  Kernel kernel = sends_.kernel(GpuId(gpu(rank)), op, wgs);
  return kernel;
}

Kernel FusedLowering::begin_computing(std::uint32_t rank) const {
  const bool some = senders_ == Senders::cus;
  return begin(rank, some ? FusedSends::Wgs::computing : FusedSends::Wgs::all);
}

Kernel FusedLowering::begin_sending(std::uint32_t rank) const {
  if (senders_ == Senders::first_wgs) return begin(rank, FusedSends::Wgs::sending_first);
  const bool cus = senders_ == Senders::cus;
  return begin(rank, cus ? FusedSends::Wgs::sending : FusedSends::Wgs::sending_wave);
}

void FusedLowering::end(std::uint32_t rank, Kernel kernel) {
  end(rank, kernel, team_->after[rank]);
}

void FusedLowering::end(std::uint32_t rank, Kernel kernel, const std::vector<KernelId>& after) {
  const bool sends = kernel.op == sending_;
  const std::uint32_t kernels = by_role() ? 2 : 1;
  const std::uint32_t number = by_role() && !sends ? 1 : 0;
  if (graph_.items.added() == 0) {
    graph_.items.add({.work = graph_.add_work({}) & 0xFFU, .scale = Item::kUnit});
  }
  kernel.team_first = static_cast<std::uint32_t>(graph_.kernels.size()) - rank * kernels - number;
  kernel.team_size = grid_.gpus * kernels;
  (sends ? made_.communicating : made_.computing).push_back(graph_.add_kernel(kernel, after));
}

}  // namespace weft
