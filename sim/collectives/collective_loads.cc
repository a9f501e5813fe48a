// All-reduces as inference engines do them within a node (vLLM's custom all-reduce): nothing is
// sent; each WG loads what it adds up from its peers' memory, 16 B a thread from each peer, and
// waits for it before it loads more. Each WG tells the same WG of all peers when its GPU is ready.
//
//   one_shot  flags; load all peers' whole buffers and add them up; flags, for nobody may overwrite
//             a buffer before all have read it
//   two_shot  flags; load all peers' contributions to the own part and add them up; flags, with a
//             fence; load the sums, of one peer after another
//
// A request takes no bandwidth, and all ranks ask for the same at the same time: what a WG loads
// from a peer is posted by that peer's WG of the same number when it asks for as much itself.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// Rounds of loads are put together where a WG has more of them than this: each is an event.
constexpr std::int64_t kMostTurnsOfLoads = 64;

// How the part of the buffer that a rank adds up is dealt out to its WGs.
struct Deal {
  std::int64_t size = 1;    // of a piece: the loads of so many rounds of a WG
  std::int64_t rounds = 1;  // that are put together
  std::int64_t pieces = 1;
  std::int64_t wgs = 1;
  [[nodiscard]] std::int64_t turns() const { return round_up(pieces, wgs); }
};

Deal deal(const Cluster& cluster, const CollectiveCall& call, std::int64_t parts) {
  const EngineSpec& engine = *cluster.spec.gpu.collective.engine;
  const std::int64_t buffer = call.buffer.count();
  const int most = call.options.channels > 0 ? call.options.channels : engine.wgs;
  const std::int64_t part = std::max<std::int64_t>(round_up(buffer, parts), 1);
  const std::int64_t round = engine.threads * kLoadBytes;
  Deal deal;
  deal.wgs = std::min<std::int64_t>(most, round_up(std::max<std::int64_t>(buffer, 1), round));
  deal.rounds = std::min(round_up(round_up(part, round), deal.wgs * kMostTurnsOfLoads),
                         kMostOfMessage / round);
  deal.size = std::min(round * deal.rounds, part);
  deal.pieces = round_up(part, deal.size);
  return deal;
}

bool in_two(Algorithm algorithm) { return algorithm == Algorithm::direct; }

class LoadsRun {
 public:
  explicit LoadsRun(CollectiveRun& run)
      : run_(run),
        engine_(*run.cluster().spec.gpu.collective.engine),
        two_(in_two(run.choice().algorithm)),
        peers_(run.ranks() - 1),
        part_(round_up(run.call().buffer.count(), two_ ? run.ranks() : 1)),
        deal_(deal(run.cluster(), run.call(), two_ ? run.ranks() : 1)) {}

  std::vector<KernelId> lower() {
    SIM_ASSERT(run_.group().one_node && reduces(run_.call().op));
    begin_ = add_latches(deal_.wgs, peers_);
    sums_ = add_latches(deal_.pieces, peers_);
    between_ = add_latches(deal_.wgs, peers_);
    if (two_) gathered_ = add_latches(deal_.pieces * peers_, 1);
    nothing_ = moves(bytes(0), {});
    fenced_ = lasts(engine_.fence);
    // Of the loads' time the links take a part. In the memory a rank reads its own bytes, which
    // peers then find in the L2, and writes the sums; gathered ones are written.
    sum_ = moves(bytes(2 * deal_.size), at_the_gpu(peers_));
    gather_ = moves(bytes(deal_.size), at_the_gpu(1));
    std::vector<KernelId> kernels;
    kernels.reserve(run_.ranks());
    for (std::uint32_t rank = 0; rank < run_.ranks(); ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  // `each` per rank, numbered consecutively by rank; returns the first.
  LatchId add_latches(std::int64_t each, std::int64_t target) {
    const LatchId first = run_.graph().latches.next_id();
    for (std::int64_t i = 0; i < each * run_.ranks(); ++i) {
      run_.graph().add_latch(static_cast<std::uint32_t>(target));
    }
    return first;
  }
  static LatchId latch(LatchId first, std::int64_t at) {
    return LatchId(first.value + static_cast<std::uint32_t>(at));
  }

  // What is left of the loads' time besides the way of the answers. Each doubling of a thread's
  // loads in flight adds what it adds in a gather.
  [[nodiscard]] Duration at_the_gpu(std::int64_t in_flight) const {
    const ClusterSpec& spec = run_.cluster().spec;
    const double more = static_cast<double>(spec.gpu.gather.doubling.count()) *
                        std::log2(static_cast<double>(in_flight));
    const Duration way = spec.scale_up->link.latency * spec.scale_up->topology->hops_of_step();
    const Duration whole = engine_.load + picoseconds(std::llround(more));
    return std::max(whole * deal_.rounds - way, nanoseconds(1));
  }

  CollectiveRun::WorkKind moves(Bytes traffic, Duration alone) {
    Work work;
    work.traffic = traffic;
    work.memory_alone = alone;
    return {.work = run_.graph().add_work(work)};
  }
  CollectiveRun::WorkKind lasts(Duration fixed) {
    Work work;
    work.fixed = fixed;
    return {.work = run_.graph().add_work(work)};
  }

  [[nodiscard]] std::uint32_t peer(std::uint32_t rank, std::int64_t i) const {
    return static_cast<std::uint32_t>((rank + i) % run_.ranks());
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = run_.kernel(rank, static_cast<std::uint32_t>(deal_.wgs));
    const GpuSpec& gpu = run_.cluster().spec.gpu;
    kernel.wg = footprint(engine_.threads, gpu.collective.channel.registers_per_thread, bytes(0),
                          gpu.wave_size);
    kernel.startup = engine_.startup;
    kernel.flag = {};
    waits_.assign(static_cast<std::size_t>(deal_.wgs), LatchId::none());
    tell(rank, nothing_, begin_);
    for_each_piece([&](std::int64_t wg, std::int64_t piece) { load(rank, wg, piece); });
    tell(rank, two_ ? fenced_ : nothing_, between_);
    for (std::int64_t turn = 0; two_ && turn < deal_.turns(); ++turn) {
      for (std::int64_t i = 1; i <= peers_; ++i) {
        for_each_of_turn(turn,
                         [&](std::int64_t wg, std::int64_t piece) { gather(rank, wg, piece, i); });
      }
    }
    for (const LatchId last : waits_) push(nothing_, LatchId::none(), last);
    return run_.add(kernel, rank);
  }

  // Items are dealt out to all WGs in turn: who has nothing to do gets an idle one.
  template <class Do>
  void for_each_of_turn(std::int64_t turn, const Do& act) {
    for (std::int64_t wg = 0; wg < deal_.wgs; ++wg) {
      const std::int64_t piece = turn * deal_.wgs + wg;
      if (piece < deal_.pieces) {
        act(wg, piece);
      } else {
        push(nothing_, LatchId::none(), LatchId::none());
      }
    }
  }
  template <class Do>
  void for_each_piece(const Do& act) {
    for (std::int64_t turn = 0; turn < deal_.turns(); ++turn) for_each_of_turn(turn, act);
  }

  // Each WG stores a flag at all peers, then waits for theirs.
  void tell(std::uint32_t rank, const CollectiveRun::WorkKind& kind, LatchId flags) {
    for (std::int64_t wg = 0; wg < deal_.wgs; ++wg) {
      const LatchId out = run_.graph().add_latch(1);
      for (std::int64_t i = 1; i <= peers_; ++i) {
        const std::uint32_t to = peer(rank, i);
        send(to, kFlagBytes, latch(flags, to * deal_.wgs + wg));
      }
      push_and_wait(kind, out, wg, latch(flags, rank * deal_.wgs + wg));
    }
  }

  void load(std::uint32_t rank, std::int64_t wg, std::int64_t piece) {
    const LatchId out = run_.graph().add_latch(1);
    for (std::int64_t i = 1; i <= peers_; ++i) {
      const std::uint32_t to = peer(rank, i);
      send(to, size_of(piece), latch(sums_, to * deal_.pieces + piece));
    }
    push_and_wait(sum_, out, wg, latch(sums_, rank * deal_.pieces + piece));
  }

  // From the peer `i` after it; to the one `i` before it.
  void gather(std::uint32_t rank, std::int64_t wg, std::int64_t piece, std::int64_t i) {
    const auto at = [&](std::uint32_t of) {
      return latch(gathered_, (of * deal_.pieces + piece) * peers_ + i - 1);
    };
    const LatchId out = run_.graph().add_latch(1);
    const std::uint32_t to = peer(rank, run_.ranks() - i);
    send(to, size_of(piece), at(to));
    push_and_wait(gather_, out, wg, at(rank));
  }

  [[nodiscard]] std::int64_t size_of(std::int64_t piece) const {
    return std::min(deal_.size, part_ - piece * deal_.size);
  }

  // Into registers, or a flag: nothing is written in the receiver's memory.
  void send(std::uint32_t to, std::int64_t size, LatchId arrives) {
    run_.graph().add_send({.to = run_.group().gpus[to],
                           .size = static_cast<std::uint32_t>(size),
                           .arrives = arrives,
                           .op = static_cast<std::uint16_t>(run_.call().operator_id.value),
                           .receive_traffic = 0});
  }

  void push_and_wait(const CollectiveRun::WorkKind& kind, LatchId out, std::int64_t wg,
                     LatchId next) {
    LatchId& waits = waits_[static_cast<std::size_t>(wg)];
    push(kind, out, waits);
    waits = next;
  }
  void push(const CollectiveRun::WorkKind& kind, LatchId counts_down, LatchId waits_for) {
    run_.graph().items.add(CollectiveRun::item(kind, 1, counts_down, waits_for));
  }

  CollectiveRun& run_;
  const EngineSpec& engine_;
  bool two_;
  std::int64_t peers_;
  std::int64_t part_;  // bytes that a rank adds up
  Deal deal_;
  LatchId begin_ = LatchId::none();     // by rank and WG: all peers are ready
  LatchId sums_ = LatchId::none();      // by rank and piece: all peers' data is there
  LatchId between_ = LatchId::none();   // by rank and WG: all peers have their sums
  LatchId gathered_ = LatchId::none();  // by rank, piece and peer
  CollectiveRun::WorkKind nothing_;
  CollectiveRun::WorkKind fenced_;
  CollectiveRun::WorkKind sum_;
  CollectiveRun::WorkKind gather_;
  std::vector<LatchId> waits_;  // by WG of the rank being lowered: what its next item waits for
};

}  // namespace

std::vector<KernelId> run_loads(CollectiveRun& run) { return LoadsRun(run).lower(); }

CollectiveCounts count_loads(const Cluster& cluster, const CollectiveCall& call, std::int64_t ranks,
                             Algorithm algorithm) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const bool two = in_two(algorithm);
  const std::int64_t parts = two ? ranks : 1;
  const Deal by = deal(cluster, call, parts);
  const std::int64_t peers = ranks - 1;
  const std::int64_t times = two ? 2 : 1;  // each byte of a part is summed, then gathered
  const std::int64_t flags = 2 * by.wgs * peers;
  return {
      .items = real(ranks * by.wgs * (3 + by.turns() * (two ? ranks : 1))),
      .sends = real(ranks * (flags + times * by.pieces * peers)),
      .bytes = real(ranks * peers) * (real(times * (call.buffer.count() + by.size)) / real(parts)) +
               real(ranks * flags * kFlagBytes)};
}

}  // namespace weft
