// An all-to-all whose channels are divided among the peers, as in NCCL's send and receive: what
// goes to a peer is cut into parts, each part belongs to a channel, and the channel moves it chunk
// by chunk into a buffer at the peer. There it is copied out while the next chunk comes, so that
// only the last chunk's copy adds time. With `ll` the lines are unpacked one by one as they come.
//
// Where there are more parts than channels, a channel has several and takes chunks in turn. A GPU's
// own part is cut in the same way, and copied. It has channels of its own unless parts are larger
// than the library wants them to be, for which it takes more channels: then a channel copies it
// beside what it exchanges, while links are slower than the channel, else before.

#include <algorithm>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

std::int64_t chunk_of(const Cluster& cluster) {
  return std::min(cluster.spec.gpu.collective.peer_parts->chunk.count(), kMostOfMessage);
}

class PeerParts {
 public:
  PeerParts(CollectiveRun& run, const Plan& plan)
      : run_(run), plan_(plan), programs_(programs(plan)) {
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
      slots_.push_back(slots_of(rank));
      most_ = std::max(most_, slots_.back().size());
    }
    const std::uint32_t all = peer_channels(run.cluster(), run.call());
    channels_ = static_cast<std::uint32_t>(std::clamp<std::size_t>(most_, 1, std::size_t{all}));
    if (most_ * plan.ranks > std::size_t{all} * (plan.ranks - 1)) own_share_ = own_of_others();
  }

  std::vector<KernelId> lower() {
    comes_.resize(plan_.ranks);
    for (std::vector<Slot>& slots : slots_) {
      for (Slot& slot : slots) {
        slot.arrives = run_.graph().add_latch(static_cast<std::uint32_t>(slot.chunks()));
        comes_[slot.to].push_back(slot);
      }
    }
    add_works();
    std::vector<KernelId> kernels;
    kernels.reserve(plan_.ranks);
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  // A part of what goes to a peer.
  struct Slot {
    std::uint32_t to = 0;
    std::int64_t size = 0;
    std::int64_t chunk = 0;
    LatchId arrives = LatchId::none();
    [[nodiscard]] std::int64_t chunks() const { return round_up(size, chunk); }
    [[nodiscard]] std::int64_t last() const { return size - (chunks() - 1) * chunk; }
  };

  // Part by part: the first part of every peer before the second of any.
  [[nodiscard]] std::vector<Slot> slots_of(std::uint32_t rank) const {
    struct Peer {
      std::uint32_t to;
      Pieces parts;
      std::int64_t all;
    };
    std::vector<Peer> peers;
    std::int64_t most = 0;
    for (std::uint32_t i = programs_.first[rank]; i < programs_.first[rank + 1]; ++i) {
      const Transfer& transfer = plan_.transfers[programs_.transfers[i]];
      const std::int64_t all =
          std::max<std::int64_t>(bytes_of(plan_, transfer, run_.call().buffer).count(), 1);
      const std::int64_t size =
          round_up(all, parts_of_peer(run_.cluster(), run_.call(), plan_.ranks, all));
      peers.push_back({transfer.to, {.size = size, .pieces = round_up(all, size)}, all});
      most = std::max(most, peers.back().parts.pieces);
    }
    std::vector<Slot> slots;
    for (std::int64_t part = 0; part < most; ++part) {
      for (const Peer& peer : peers) {
        if (part >= peer.parts.pieces) continue;
        const std::int64_t size = peer.parts.bytes_of(part, peer.all);
        slots.push_back({.to = peer.to,
                         .size = size,
                         .chunk = std::min(size, chunk_of(run_.cluster())),
                         .arrives = {}});
      }
    }
    return slots;
  }

  // All active channels share the rate at which they can send together.
  [[nodiscard]] Duration copy_time(std::int64_t size) const {
    const CollectiveSpec& library = run_.cluster().spec.gpu.collective;
    if (run_.choice().protocol != Protocol::simple) {
      return run_.copy_time({.in = 1, .out = 1, .traffic = 2}, size);
    }
    const Bandwidth share = Bandwidth::from_count(library.peer_parts->total.count() / channels_);
    Bandwidth own = library.peer_parts->own;
    if (own.count() == 0) own = library.exchange_rate * 2;
    const auto copied = static_cast<std::int64_t>(static_cast<double>(size) * own_share_);
    const Duration moved =
        run_.wire_time(size, library.exchange_rate) + run_.wire_time(copied, own);
    return std::max(moved, run_.wire_time(size, share));
  }

  // What stays on the GPUs of an all-to-all, over what goes to others.
  [[nodiscard]] double own_of_others() const {
    if (plan_.collective != CollectiveOp::all_to_all) return 0;
    if (plan_.pair_bytes.empty()) return 1.0 / (plan_.ranks - 1);
    double own = 0;
    double others = 0;
    for (std::size_t pair = 0; pair < plan_.pair_bytes.size(); ++pair) {
      const bool stays = pair % (plan_.ranks + 1) == 0;
      (stays ? own : others) += static_cast<double>(plan_.pair_bytes[pair]);
    }
    return others > 0 ? own / others : 0;
  }

  void add_works() {
    std::int64_t largest = 1;
    for (const std::vector<Slot>& slots : slots_) {
      for (const Slot& slot : slots) largest = std::max(largest, slot.chunk);
    }
    sends_ = run_.work({.in = 0, .out = 1, .traffic = 1}, largest, copy_time(largest),
                       CollectiveRun::Way::streamed);
    const Amount out_of_buffer{.in = 1, .out = 0, .traffic = 2};
    takes_ = run_.work(out_of_buffer, largest, run_.copy_time(out_of_buffer, largest),
                       CollectiveRun::Way::streamed);
    nothing_ = {.work = run_.graph().add_work({})};
  }

  KernelId add_kernel(std::uint32_t rank) {
    const std::vector<Slot>& slots = slots_[rank];
    Kernel kernel = run_.kernel(rank, channels_);
    const CollectiveSpec& library = run_.cluster().spec.gpu.collective;
    kernel.startup = startup_of(library, library.peer_parts->startup, channels_);
    const bool own_step = run_.choice().protocol == Protocol::simple;
    if (own_step && library.peer_parts->step.count() > 0) kernel.flag = library.peer_parts->step;
    // WG w takes chunk k of its slots w, w + channels, ..., then chunk k + 1.
    std::int64_t chunks = 0;
    for (const Slot& slot : slots) chunks = std::max(chunks, slot.chunks());
    for (std::int64_t k = 0; k < chunks; ++k) {
      for (std::size_t i = 0; i < in_rounds(slots.size()); ++i) {
        run_.graph().items.push_back(i < slots.size() ? item(rank, slots[i], k) : idle());
      }
    }
    const std::vector<Slot>& comes = comes_[rank];
    for (std::size_t i = 0; i < in_rounds(comes.size()); ++i) {
      run_.graph().items.push_back(i < comes.size() ? take(comes[i]) : idle());
    }
    return run_.add(kernel, rank);
  }

  // Rounded up, so that every channel gets the same number.
  [[nodiscard]] std::size_t in_rounds(std::size_t slots) const {
    return (slots + channels_ - 1) / channels_ * channels_;
  }

  [[nodiscard]] Item take(const Slot& slot) const {
    const bool at_once = run_.choice().protocol != Protocol::simple;
    return CollectiveRun::item(at_once ? nothing_ : takes_, at_once ? 1 : slot.last(),
                               LatchId::none(), slot.arrives);
  }

  [[nodiscard]] Item idle() const {
    return CollectiveRun::item(nothing_, 1, LatchId::none(), LatchId::none());
  }

  Item item(std::uint32_t rank, const Slot& slot, std::int64_t k) {
    const std::int64_t at = k * slot.chunk;
    if (at >= slot.size) return idle();
    const std::int64_t size = std::min(slot.chunk, slot.size - at);
    const LatchId out = run_.send(rank, slot.to, size, slot.arrives, true);
    return CollectiveRun::item(sends_, size, out, LatchId::none());
  }

  CollectiveRun& run_;
  const Plan& plan_;
  Programs programs_;
  std::vector<std::vector<Slot>> slots_;  // by rank
  std::size_t most_ = 0;                  // of a rank
  std::uint32_t channels_ = 1;
  double own_share_ = 0;  // of what a channel exchanges, what it copies of the own part
  std::vector<std::vector<Slot>> comes_;  // by rank: slots of others
  CollectiveRun::WorkKind sends_;
  CollectiveRun::WorkKind takes_;
  CollectiveRun::WorkKind nothing_;
};

}  // namespace

std::vector<KernelId> run_peer_parts(CollectiveRun& run, const Plan& plan) {
  return PeerParts(run, plan).lower();
}

CollectiveCounts count_peer_parts(const Cluster& cluster, const CollectiveCall& call,
                                  std::int64_t ranks, double sent) {
  const bool one_peer = call.op == CollectiveOp::point_to_point;
  const std::int64_t peers = one_peer ? 1 : ranks - 1;
  const std::int64_t size = exchanged_bytes(call, ranks, Algorithm::direct);
  const std::int64_t parts = parts_of_peer(cluster, call, ranks, size);
  const std::int64_t chunks = round_up(round_up(size, parts), chunk_of(cluster));
  const std::int64_t channels = peer_channels(cluster, call);
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double senders = one_peer ? 1 : real(ranks);
  return {.items = real(ranks) * real(peers * parts + channels) * real(chunks + 1) + real(ranks),
          .sends = senders * real(peers * parts) * real(chunks),
          .bytes = sent};
}

}  // namespace weft
