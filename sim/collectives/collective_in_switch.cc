// Collectives that the switch of a node performs: it adds up what all GPUs hold of a block, and
// copies to all what one stores. Block r is rank r's: a WG of it loads the sum (multimem.ld_reduce
// of NVLink), or reads the block, and stores it everywhere (multimem.st). Before that every rank
// signals once that it is ready: its data is there, and others may store into its memory.
//
//   all_reduce      ready, load, store      reduce_scatter  ready, load
//   all_gather      ready, store            broadcast       ready, store by the root
#include <algorithm>
#include <optional>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// What a WG has in flight: 512 threads with four loads of 16 B. It stores them before it loads
// more.
constexpr std::int64_t kInFlight = 32 * 1024;
// But no more turns per channel than it takes to overlap loads and stores: each is an event.
constexpr std::int64_t kMostTurns = 64;

// What rank r has to load or store: its block; in a broadcast, all or nothing.
std::int64_t own_bytes(const CollectiveCall& call, std::uint32_t rank, std::uint32_t ranks) {
  if (call.op == CollectiveOp::broadcast) return rank == call.root ? call.buffer.count() : 0;
  __extension__ using Wide = __int128;
  const auto up_to = [&](std::uint32_t r) {
    return static_cast<std::int64_t>(Wide{call.buffer.count()} * r / ranks);
  };
  return std::max<std::int64_t>(up_to(rank + 1) - up_to(rank), 1);
}

// The chunk of a channel, as NCCL's calcCollChunking() halves it.
std::int64_t chunk_of(const InSwitchSpec& spec, std::int64_t turns_of_whole) {
  if (turns_of_whole >= 8) return spec.chunk.count();
  return spec.chunk.count() / (turns_of_whole >= 1 ? 2 : 4);
}

Pieces cut(const Cluster& cluster, const CollectiveCall& call, std::int64_t ranks,
           CollectiveChoice choice) {
  const std::int64_t block = exchanged_bytes(call, ranks, Algorithm::in_switch);
  const std::int64_t channels = channels_of(cluster, call);
  std::int64_t most = cluster.spec.gpu.collective.chunk.count();
  if (const auto& spec = in_switch_of(cluster.spec.gpu.collective, choice.of_engine)) {
    most = chunk_of(*spec, block / (channels * spec->chunk.count()));
    most = std::max(most, round_up(block, channels * kMostTurns));
  } else if (reduces(call.op)) {
    most = std::min(most, std::max(kInFlight, round_up(block, channels * kMostTurns)));
  }
  return cut_for_peer(block, 1, channels, bytes(most));
}

class InSwitchRun {
 public:
  explicit InSwitchRun(CollectiveRun& run)
      : run_(run),
        loads_(reduces(run.call().op)),
        stores_(run.call().op != CollectiveOp::reduce_scatter),
        group_(run.graph().add_group(run.group().gpus)),
        spec_(in_switch_of(run.cluster().spec.gpu.collective, run.choice().of_engine)),
        pieces_(cut(run.cluster(), run.call(), run.ranks(), run.choice())),
        channels_(std::min<std::int64_t>(channels_of(run.cluster(), run.call()), pieces_.pieces)) {}

  std::vector<KernelId> lower() {
    SIM_ASSERT(is_possible(run_.cluster(), run_.call(), run_.group(), Algorithm::in_switch));
    const bool one_owner = run_.call().op == CollectiveOp::broadcast;
    const std::int64_t owners = one_owner ? 1 : run_.ranks();
    ready_ = add_latches(run_.ranks());
    if (stores_) finish_ = add_latches(owners * pieces_.pieces);
    nothing_ = {.work = run_.graph().add_work({})};
    const Amount amount{
        .in = loads_ ? 1U : 0U,
        .out = stores_ ? 1U : 0U,
        .traffic = loads_ && stores_ ? 0U : 1U};  // a sum comes and goes in registers
    moves_ = run_.work(amount, pieces_.size, moving(), CollectiveRun::Way::streamed);
    std::vector<KernelId> kernels;
    kernels.reserve(run_.ranks());
    for (std::uint32_t rank = 0; rank < run_.ranks(); ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  // A channel's time for a piece; by the library's `in_switch`, each channel copies all GPUs' parts
  // in and out.
  [[nodiscard]] Duration moving() const {
    const CollectiveSpec& library = run_.cluster().spec.gpu.collective;
    if (!spec_) return run_.wire_time(pieces_.size, library.channel_rate);
    const std::int64_t ranks = run_.ranks();
    const std::int64_t turns = round_up(pieces_.size, spec_->chunk.count());
    return spec_->turn * (ranks * turns) + run_.wire_time(ranks * pieces_.size, spec_->rate);
  }

  // One per rank, numbered consecutively; returns the first.
  LatchId add_latches(std::int64_t target) {
    const LatchId first = run_.graph().latches.next_id();
    for (std::uint32_t rank = 0; rank < run_.ranks(); ++rank) {
      run_.graph().add_latch(static_cast<std::uint32_t>(target));
    }
    return first;
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = run_.kernel(rank, static_cast<std::uint32_t>(channels_));
    if (spec_) {
      kernel.startup = spec_->startup;
      kernel.flag = {};
    }
    if (stores_) kernel.finish = LatchId(finish_.value + rank);
    say_ready(rank);
    const std::int64_t own = own_bytes(run_.call(), rank, run_.ranks());
    if (own > 0) move(rank, own);
    return run_.add(kernel, rank);
  }

  // By the first channel; the others get an idle item, as the list is dealt out to all in turn.
  void say_ready(std::uint32_t rank) {
    const LatchId out = send(rank, kFlagBytes, ready_, InSwitch::multicasts);
    push(nothing_, 1, out, LatchId::none());
    for (std::int64_t c = 1; c < channels_; ++c) skip();
  }

  void move(std::uint32_t rank, std::int64_t own) {
    const std::int64_t turns = round_up(pieces_.pieces, channels_);
    sums_.assign(static_cast<std::size_t>(pieces_.pieces), LatchId::none());
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      for (std::int64_t c = 0; loads_ && c < channels_; ++c) load(rank, own, turn * channels_ + c);
      for (std::int64_t c = 0; c < channels_; ++c) finish(rank, own, turn * channels_ + c);
    }
  }

  // All blocks have the same number of pieces, though their sizes differ by a byte.
  [[nodiscard]] std::int64_t size_of(std::int64_t own, std::int64_t piece) const {
    __extension__ using Wide = __int128;
    const auto up_to = [&](std::int64_t p) {
      return static_cast<std::int64_t>(Wide{own} * p / pieces_.pieces);
    };
    return std::max<std::int64_t>(up_to(piece + 1) - up_to(piece), 1);
  }

  void load(std::uint32_t rank, std::int64_t own, std::int64_t piece) {
    if (piece >= pieces_.pieces) return skip();
    const LatchId sum = run_.graph().add_latch(1);
    sums_[static_cast<std::size_t>(piece)] = sum;
    const LatchId out = send(rank, size_of(own, piece), sum, InSwitch::reduces);
    push(nothing_, 1, out, LatchId(ready_.value + rank));
  }

  // Stores the piece everywhere or, in a reduce-scatter, keeps it.
  void finish(std::uint32_t rank, std::int64_t own, std::int64_t piece) {
    if (piece >= pieces_.pieces) return skip();
    const std::int64_t size = size_of(own, piece);
    const LatchId out = stores_ ? send(rank, size, finish_, InSwitch::multicasts) : LatchId::none();
    const LatchId ready(ready_.value + rank);
    push(moves_, size, out, loads_ ? sums_[static_cast<std::size_t>(piece)] : ready);
  }

  LatchId send(std::uint32_t rank, std::int64_t size, LatchId arrives, InSwitch op) {
    const LatchId out = run_.graph().add_latch(1);
    run_.graph().add_send(
        {.to = run_.group().gpus[rank],
         .size = static_cast<std::uint32_t>(size),
         .arrives = arrives,
         .op = static_cast<std::uint16_t>(run_.call().operator_id.value),
         .group = group_,
         .receive_traffic = op == InSwitch::reduces ? std::uint8_t{0} : std::uint8_t{1},
         .in_switch = op});
    return out;
  }

  void push(const CollectiveRun::WorkKind& kind, std::int64_t size, LatchId counts_down,
            LatchId waits_for) {
    run_.graph().items.add(CollectiveRun::item(kind, size, counts_down, waits_for));
  }
  void skip() { push(nothing_, 1, LatchId::none(), LatchId::none()); }

  CollectiveRun& run_;
  bool loads_;
  bool stores_;
  std::uint16_t group_;
  const std::optional<InSwitchSpec>& spec_;
  Pieces pieces_;
  std::int64_t channels_;
  LatchId ready_ = LatchId::none();   // rank 0's: all ranks are ready
  LatchId finish_ = LatchId::none();  // rank 0's: all copies have arrived
  CollectiveRun::WorkKind nothing_;
  CollectiveRun::WorkKind moves_;
  std::vector<LatchId> sums_;  // of the pieces of the rank being lowered
};

}  // namespace

std::vector<KernelId> run_in_switch(CollectiveRun& run) { return InSwitchRun(run).lower(); }

CollectiveCounts count_in_switch(const Cluster& cluster, const CollectiveCall& call,
                                 std::int64_t ranks, CollectiveChoice choice) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const std::int64_t pieces = cut(cluster, call, ranks, choice).pieces;
  const std::int64_t channels = std::min<std::int64_t>(channels_of(cluster, call), pieces);
  const std::int64_t listed = round_up(pieces, channels) * channels;
  const bool loads = reduces(call.op);
  const bool stores = call.op != CollectiveOp::reduce_scatter;
  const std::int64_t owners = call.op == CollectiveOp::broadcast ? 1 : ranks;
  const std::int64_t messages = (loads ? ranks : 0) + (stores ? 1 : 0);
  return {.items = real(owners * listed * (loads ? 2 : 1) + ranks * (channels + 1)),
          .sends = real(owners * pieces * messages + ranks),
          .bytes = real(call.buffer.count() + pieces * owners) * real(messages) +
                   real(ranks * kFlagBytes)};
}

}  // namespace weft
