// Plans of one step: every rank sends what it has from the start, nobody waits. WGs take the pieces
// in turn, one to each peer before the second to any, so that all links and all directions are in
// use at any time. What arrives lands in place; only adding it up costs the receiver an item.

#include <algorithm>
#include <bit>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

class Exchange {
 public:
  Exchange(CollectiveRun& run, const Plan& plan)
      : run_(run),
        plan_(plan),
        programs_(programs(plan)),
        adds_(!plan.transfers.empty() && plan.transfers.front().arrival == Arrival::adds),
        received_(plan.ranks, 0) {
    const GpuSpec& gpu = run.cluster().spec.gpu;
    channels_ = channels_of(run.cluster(), run.call());
    peers_ = goes_to_one_peer() ? 1 : plan.ranks - 1;
    rate_ = plan.collective == CollectiveOp::all_to_all ? gpu.collective.exchange_rate
                                                        : gpu.collective.channel_rate;
    for (const Transfer& transfer : plan.transfers) {
      const Pieces pieces = cut(transfer);
      largest_ = std::max(largest_, pieces.size);
      most_pieces_ = std::max(most_pieces_, pieces.pieces);
      received_[transfer.to] += static_cast<std::uint32_t>(pieces.pieces);
    }
  }

  std::vector<KernelId> lower() {
    add_arrivals();
    if (adds_) {  // read what has arrived and its own, write the sum
      const std::uint32_t in = plan_.ranks - 1;
      adding_ = run_.work({.in = in, .out = 0, .traffic = in + 2}, largest_,
                          run_.wire_time(in * largest_, rate_), CollectiveRun::Way::streamed);
    }
    std::vector<KernelId> kernels;
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  // Point to point, or each rank passes something on to another.
  [[nodiscard]] bool goes_to_one_peer() const {
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      if (programs_.first[rank + 1] - programs_.first[rank] > 1) return false;
    }
    return true;
  }

  // An empty transfer is sent as one byte, because its arrival counts.
  [[nodiscard]] std::int64_t payload(const Transfer& transfer) const {
    return std::max<std::int64_t>(bytes_of(plan_, transfer, run_.call().buffer).count(), 1);
  }
  // Payloads recur.
  Pieces cut(const Transfer& transfer) {
    const std::int64_t size = payload(transfer);
    if (size != cut_size_) {
      cut_size_ = size;
      cut_ = cut_for_peer(size, peers_, channels_, run_.cluster().spec.gpu.collective.chunk);
    }
    return cut_;
  }

  // For each rank one latch for all that arrives; or, where that is added up, one for each piece.
  void add_arrivals() {
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) {
      arrivals_.emplace_back();
      if (received_[rank] == 0) continue;
      const std::uint32_t latches = adds_ ? received_[rank] / peers_ : 1;
      for (std::uint32_t i = 0; i < latches; ++i) {
        arrivals_[rank].push_back(run_.graph().add_latch(received_[rank] / latches));
      }
    }
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = run_.kernel(rank, channels_);
    kernel.work_list = WorkList::dynamic_list;
    if (!adds_ && !arrivals_[rank].empty()) kernel.finish = arrivals_[rank].front();
    ItemRuns& items = run_.graph().items;
    for (std::int64_t piece = 0; piece < most_pieces_; ++piece) {
      for (std::uint32_t i = programs_.first[rank]; i < programs_.first[rank + 1]; ++i) {
        const Transfer& transfer = plan_.transfers[programs_.transfers[i]];
        const Pieces pieces = cut(transfer);
        if (piece >= pieces.pieces) continue;
        const std::int64_t size = pieces.bytes_of(piece, payload(transfer));
        const auto which = static_cast<std::size_t>(adds_ ? piece : 0);
        const LatchId out =
            run_.send(rank, transfer.to, size, arrivals_[transfer.to][which], adds_);
        const Kinds& kinds = kinds_of(size);
        const bool staged = run_.leaves_node(rank, transfer.to);
        items.add(
            CollectiveRun::item(staged ? kinds.staged : kinds.inside, size, out, LatchId::none()));
      }
    }
    if (adds_) add_sums(rank);
    return run_.add(kernel, rank);
  }

  // The kinds of work for pieces of this size.
  struct Kinds {
    std::int64_t size = 0;
    CollectiveRun::WorkKind inside;
    CollectiveRun::WorkKind staged;
  };

  const Kinds& add_kinds(std::int64_t size) {
    const Amount send{.in = 0, .out = 1, .traffic = 1};
    const auto sending = [&](CollectiveRun::Way way) {
      return run_.work(send, size, run_.wire_time(size, rate_), way);
    };
    const auto inside = sending(CollectiveRun::Way::streamed);
    kinds_.push_back(
        {.size = size,
         .inside = inside,
         .staged = run_.group().one_node ? inside : sending(CollectiveRun::Way::staged)});
    return kinds_.back();
  }

  // For this size or, where pairs are uneven, for the next power of two, which is scaled.
  const Kinds& kinds_of(std::int64_t size) {
    if (!plan_.pair_bytes.empty()) {
      size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size)));
    }
    const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const Kinds& kinds) { return kinds.size == size; });
    return known == kinds_.end() ? add_kinds(size) : *known;
  }

  // All that arrives here is for the same block. A piece is cut further where there are more
  // channels than pieces, so that all of them add up.
  void add_sums(std::uint32_t rank) {
    Transfer block{.from = 0, .to = rank};
    if (plan_.blocks > 1) block.block = rank;
    const Pieces pieces = cut(block);
    for (std::int64_t piece = 0; piece < pieces.pieces; ++piece) {
      const std::int64_t size = pieces.bytes_of(piece, payload(block));
      const std::int64_t part = round_up(size, parts_of_sum(channels_, pieces, size));
      for (std::int64_t at = 0; at < size; at += part) {
        const std::int64_t in = std::min(part, size - at) * (plan_.ranks - 1);
        run_.graph().items.add(CollectiveRun::item(
            adding_, in, LatchId::none(), arrivals_[rank][static_cast<std::size_t>(piece)]));
      }
    }
  }

  CollectiveRun& run_;
  const Plan& plan_;
  Programs programs_;
  bool adds_;
  std::vector<std::uint32_t> received_;  // pieces, by rank
  std::uint32_t channels_ = 1;
  std::uint32_t peers_ = 1;
  std::int64_t cut_size_ = 0;  // what was cut last ...
  Pieces cut_;                 // ... and into what
  Bandwidth rate_;
  std::int64_t largest_ = 1;  // bytes of a piece
  std::int64_t most_pieces_ = 0;
  std::vector<Kinds> kinds_;
  CollectiveRun::WorkKind adding_;
  std::vector<std::vector<LatchId>> arrivals_;
};

}  // namespace

std::vector<KernelId> run_exchange(CollectiveRun& run, const Plan& plan) {
  return Exchange(run, plan).lower();
}

}  // namespace weft
