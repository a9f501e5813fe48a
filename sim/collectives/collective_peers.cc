// An all-to-all whose channels are divided among the peers, as in NCCL's send and receive: what
// goes to a peer is cut into parts, each part belongs to a channel, and the channel moves it chunk
// by chunk into a buffer at the peer. There it is copied out while the next chunk comes, so that
// only the last chunk's copy adds time. With `ll` the lines are unpacked one by one as they come.
//
// What stays with the rank itself is a further part of the same kind: a channel copies it, once
// instead of twice. Where there are more parts than channels, a channel has several and takes
// chunks in turn.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

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
      channels_.push_back(channels_of_rank(rank));
      used_ = std::max(used_, channels_.back().size());
      sending_ = std::max(sending_, sending_channels(rank, channels_.back()));
    }
  }

  std::vector<KernelId> lower() {
    comes_.resize(plan_.ranks);
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      comes_[rank].resize(used_);
    }
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      for (std::size_t channel = 0; channel < channels_[rank].size(); ++channel) {
        for (Slot& slot : channels_[rank][channel]) {
          if (slot.to == rank) continue;
          slot.arrives = run_.graph().add_latch(static_cast<std::uint32_t>(slot.chunks()));
          comes_[slot.to][channel].push_back(slot);
        }
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

  using Channels = std::vector<std::vector<Slot>>;

  // Part p of what goes to the d-th next rank has channel d + p with its bits reversed.
  [[nodiscard]] Channels channels_of_rank(std::uint32_t rank) const {
    Channels channels(peer_channels(run_.cluster(), run_.call()));
    const auto bits = static_cast<int>(std::bit_width(channels.size())) - 1;
    for (const Part& part : parts_of(rank)) {
      const std::uint32_t next = (part.to + plan_.ranks - rank) % plan_.ranks;
      for (std::int64_t p = 0; p < part.pieces.pieces; ++p) {
        const std::int64_t size = part.pieces.bytes_of(p, part.all);
        channels[(next + reversed(p, bits)) % channels.size()].push_back(
            {.to = part.to,
             .size = size,
             .chunk = std::min(size, chunk_of(run_.cluster())),
             .arrives = {}});
      }
    }
    std::erase_if(channels, [](const std::vector<Slot>& slots) { return slots.empty(); });
    return channels;
  }

  [[nodiscard]] static std::uint64_t reversed(std::int64_t number, int bits) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < bits; ++bit) {
      result = result * 2 + ((static_cast<std::uint64_t>(number) >> bit) & 1);
    }
    return result;
  }

  // All that goes to a rank, and how it is cut.
  struct Part {
    std::uint32_t to = 0;
    Pieces pieces;
    std::int64_t all = 0;
  };

  [[nodiscard]] std::vector<Part> parts_of(std::uint32_t rank) const {
    std::vector<Part> parts;
    const auto add = [&](std::uint32_t to, std::int64_t all) {
      const std::int64_t size =
          round_up(all, parts_of_peer(run_.cluster(), run_.call(), plan_.ranks, all));
      parts.push_back({to, {.size = size, .pieces = round_up(all, size)}, all});
    };
    if (const std::int64_t own = own_bytes(rank); own > 0) add(rank, own);
    for (std::uint32_t i = programs_.first[rank]; i < programs_.first[rank + 1]; ++i) {
      const Transfer& transfer = plan_.transfers[programs_.transfers[i]];
      add(transfer.to,
          std::max<std::int64_t>(bytes_of(plan_, transfer, run_.call().buffer).count(), 1));
    }
    return parts;
  }

  // What an all-to-all copies from a rank's buffer to its own other one.
  [[nodiscard]] std::int64_t own_bytes(std::uint32_t rank) const {
    if (plan_.collective != CollectiveOp::all_to_all) return 0;
    const Transfer own{.from = rank, .to = rank, .block = rank};
    return bytes_of(plan_, own, run_.call().buffer).count();
  }

  static std::uint32_t sending_channels(std::uint32_t rank, const Channels& channels) {
    return static_cast<std::uint32_t>(
        std::count_if(channels.begin(), channels.end(), [&](const std::vector<Slot>& slots) {
          return std::any_of(slots.begin(), slots.end(),
                             [&](const Slot& slot) { return slot.to != rank; });
        }));
  }

  // All channels that send share the rate at which they can send together.
  [[nodiscard]] Duration copy_time(std::int64_t size, bool several) const {
    const CollectiveSpec& library = run_.cluster().spec.gpu.collective;
    if (run_.choice().protocol != Protocol::simple) {
      return run_.copy_time({.in = 1, .out = 1, .traffic = 2}, size);
    }
    const Bandwidth share = Bandwidth::from_count(library.peer_parts->total.count() / sending_);
    return run_.wire_time(size,
                          std::min(several ? rate_of_several() : library.exchange_rate, share));
  }

  // While one part waits for a flag, its channel copies another.
  [[nodiscard]] Bandwidth rate_of_several() const {
    const CollectiveSpec& library = run_.cluster().spec.gpu.collective;
    return Bandwidth::from_count(static_cast<std::int64_t>(std::llround(
        static_cast<double>(library.exchange_rate.count()) * library.peer_parts->several)));
  }

  void add_works() {
    std::int64_t largest = 1;
    for (const Channels& channels : channels_) {
      for (const std::vector<Slot>& slots : channels) {
        for (const Slot& slot : slots) largest = std::max(largest, slot.chunk);
      }
    }
    for (const bool several : {false, true}) {
      sends_[several] = run_.work({.in = 0, .out = 1, .traffic = 1}, largest,
                                  copy_time(largest, several), CollectiveRun::Way::streamed);
    }
    const Amount out_of_buffer{.in = 1, .out = 0, .traffic = 2};
    takes_ = run_.work(out_of_buffer, largest, run_.copy_time(out_of_buffer, largest),
                       CollectiveRun::Way::streamed);
    // A peer's bytes are copied twice in that time: on their way out, and others on their way in.
    const Bandwidth rate = rate_of_several();
    own_ = run_.work({.in = 1, .out = 0, .traffic = 2}, largest,
                     transfer_time(bytes(largest), rate + rate), CollectiveRun::Way::streamed);
    nothing_ = {.work = run_.graph().add_work({})};
  }

  KernelId add_kernel(std::uint32_t rank) {
    Channels& channels = channels_[rank];
    channels.resize(used_);
    Kernel kernel = run_.kernel(rank, static_cast<std::uint32_t>(used_));
    const CollectiveSpec& library = run_.cluster().spec.gpu.collective;
    kernel.startup = startup_of(library, library.peer_parts->startup, sending_);
    const bool own_step = run_.choice().protocol == Protocol::simple;
    if (own_step && library.peer_parts->step.count() > 0) kernel.flag = library.peer_parts->step;
    // A channel takes chunk k of each of its slots, then chunk k + 1; last, what came.
    Items lists(used_);
    for (std::size_t c = 0; c < used_; ++c) {
      std::int64_t chunks = 0;
      for (const Slot& slot : channels[c]) chunks = std::max(chunks, slot.chunks());
      for (std::int64_t k = 0; k < chunks; ++k) {
        for (const Slot& slot : channels[c]) {
          if (k < slot.chunks()) lists[c].push_back(item(rank, slot, k, channels[c].size() > 1));
        }
      }
    }
    deal(lists);
    lists.assign(used_, {});
    for (std::size_t c = 0; c < used_; ++c) {
      for (const Slot& slot : comes_[rank][c]) lists[c].push_back(take(slot));
    }
    deal(lists);
    return run_.add(kernel, rank);
  }

  using Items = std::vector<std::vector<Item>>;

  // One of each channel in turn: WG w gets every item whose number leaves w.
  void deal(const Items& lists) {
    std::size_t most = 0;
    for (const std::vector<Item>& list : lists) most = std::max(most, list.size());
    for (std::size_t i = 0; i < most; ++i) {
      for (const std::vector<Item>& list : lists) {
        run_.graph().items.add(i < list.size() ? list[i] : idle());
      }
    }
  }

  [[nodiscard]] Item take(const Slot& slot) const {
    const bool at_once = run_.choice().protocol != Protocol::simple;
    return CollectiveRun::item(at_once ? nothing_ : takes_, at_once ? 1 : slot.last(),
                               LatchId::none(), slot.arrives);
  }

  [[nodiscard]] Item idle() const {
    return CollectiveRun::item(nothing_, 1, LatchId::none(), LatchId::none());
  }

  Item item(std::uint32_t rank, const Slot& slot, std::int64_t k, bool several) {
    const std::int64_t size = std::min(slot.chunk, slot.size - k * slot.chunk);
    if (slot.to == rank) return CollectiveRun::item(own_, size, LatchId::none(), LatchId::none());
    const LatchId out = run_.send(rank, slot.to, size, slot.arrives, true);
    return CollectiveRun::item(sends_[several], size, out, LatchId::none());
  }

  CollectiveRun& run_;
  const Plan& plan_;
  Programs programs_;
  std::vector<Channels> channels_;                // by rank: slots of each channel in use
  std::size_t used_ = 1;                          // channels, at most of a rank
  std::uint32_t sending_ = 1;                     // those of them that send
  std::vector<Channels> comes_;                   // by rank and channel: slots of others
  std::array<CollectiveRun::WorkKind, 2> sends_;  // of a channel with one part, with several
  CollectiveRun::WorkKind takes_;
  CollectiveRun::WorkKind own_;
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
  return {
      .items = real(ranks) * real((peers + 1) * parts + channels) * real(chunks + 1) + real(ranks),
      .sends = senders * real(peers * parts) * real(chunks),
      .bytes = sent};
}

}  // namespace weft
