// Plans of several steps: the buffer is divided among the channels, and each moves its part in
// chunks, transfer by transfer in the order of the plan. Channel c of all ranks works on the same
// part, so what it waits for was sent by the channels c of the others.
//
// Where a plan has phases that use different links or directions (a tree up and down), a channel
// begins a chunk's first phase before the later phases of earlier chunks. All ranks interleave in
// the same way, so there is one order of all transfers in which each can happen: nobody waits
// forever. In a tree, the further a rank is from the root, the further it is ahead: if all were
// equally far ahead, each chunk would wait for the one before to go to the parent and come back.

#include <algorithm>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
// Chunks that a rank of a tree may be ahead of its parent: the slots of a connection, as in NCCL.
constexpr std::uint32_t kSlots = 8;

// A plan with all that its items need. Waiters are numbered as in Dependencies.
struct Prepared {
  const Plan* plan = nullptr;
  Dependencies waits;
  Programs programs;
  std::vector<std::uint32_t> latch;  // of each waiter, kNone where it has none
  std::uint32_t latches = 0;
  std::vector<Amount> amounts;           // kinds of work ...
  std::vector<std::uint8_t> amount;      // ... and the kind of each waiter
  std::vector<std::uint32_t> from_root;  // in a tree, by rank: hops from the root
};

// One item of a channel: a transfer, or a final receive, of one chunk.
struct Step {
  std::uint32_t chunk = 0;
  std::uint32_t waiter = 0;
};

class Steps {
 public:
  Steps(CollectiveRun& run, const std::vector<Plan>& plans)
      : run_(run),
        // What lands in place costs the receiver nothing.
        in_place_(spec_of(run.choice().algorithm).lands_in_place),
        division_(
            divide(run.cluster(), run.call(), run.group(),
                   count_plans(run.cluster(), run.call(), run.group(), run.choice().algorithm),
                   run.choice())),
        chunks_(static_cast<std::uint32_t>(division_.chunks)),
        ranks_(plans.front().ranks) {
    SIM_ASSERT(division_.chunks <= kNone);
    for (const Plan& plan : plans) prepared_.push_back(prepare(plan));
    for (std::uint32_t c = 0; c < division_.channels; ++c) {
      for (std::uint32_t k = 0; k < chunks_; ++k) {
        chunk_bytes_.push_back(cut_chunk(c, k));
        largest_ = std::max(largest_, chunk_bytes_.back().count());
      }
    }
  }

  std::vector<KernelId> lower() {
    add_finish_latches();
    for (std::uint32_t c = 0; c < division_.channels; ++c) add_latches(c);
    for (const Prepared& plan : prepared_) add_works(plan);
    std::vector<KernelId> kernels;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) kernels.push_back(add_kernel(rank));
    return kernels;
  }

 private:
  [[nodiscard]] const Prepared& of_channel(std::uint32_t c) const {
    return prepared_[c % prepared_.size()];
  }

  // Channels divide the buffer, chunks a channel's part.
  [[nodiscard]] Bytes chunk_bytes(std::uint32_t c, std::uint32_t k) const {
    return chunk_bytes_[std::size_t{c} * chunks_ + k];
  }
  [[nodiscard]] Bytes cut_chunk(std::uint32_t c, std::uint32_t k) const {
    const auto part = [](std::int64_t all, std::int64_t i, std::int64_t n) {
      __extension__ using Wide = __int128;
      const auto up_to = [&](std::int64_t j) {
        return static_cast<std::int64_t>(static_cast<Wide>(all) * j / n);
      };
      return up_to(i + 1) - up_to(i);
    };
    const std::int64_t whole = part(run_.call().buffer.count(), c, division_.channels);
    return bytes(part(whole, k, chunks_));
  }

  [[nodiscard]] bool lands_in_place(const Prepared& p, std::uint32_t waiter, Arrival how) const {
    return in_place_ && waiter >= p.plan->transfers.size() && how == Arrival::replaces;
  }

  // For a tree that adds up on its way to the root and copies on its way back.
  [[nodiscard]] std::vector<std::uint32_t> hops_from_root(const Plan& plan) const {
    std::vector<std::uint32_t> hops(plan.ranks);
    const bool is_tree = spec_of(run_.choice().algorithm).ahead == Ahead::by_depth;
    if (!is_tree || plan.phases.size() < 2) return hops;
    for (std::size_t t = plan.phases[1]; t < plan.transfers.size(); ++t) {
      hops[plan.transfers[t].to] = hops[plan.transfers[t].from] + 1;
    }
    return hops;
  }

  Prepared prepare(const Plan& plan) {
    Prepared p{.plan = &plan,
               .waits = dependencies(plan),
               .programs = programs(plan),
               .latch = {},
               .latches = 0,
               .amounts = {},
               .amount = {},
               .from_root = hops_from_root(plan)};
    const std::size_t transfers = plan.transfers.size();
    const std::size_t waiters = transfers + p.waits.finals.size();
    struct Taken {
      std::uint32_t blocks = 0;
      std::uint32_t arrivals = 0;
      bool adds = false;
      bool in_place = false;
    };
    std::vector<Taken> taken(waiters);
    for (std::size_t t = 0; t < transfers; ++t) {
      Taken& by = taken[p.waits.taken_in_by[t]];
      by.blocks += plan.transfers[t].blocks;
      by.arrivals += 1;
      by.adds = plan.transfers[t].arrival == Arrival::adds;
      by.in_place = lands_in_place(p, p.waits.taken_in_by[t], plan.transfers[t].arrival);
    }
    // Sums that nothing replaces later are stored, not only sent on.
    std::vector<bool> replaced(std::size_t{plan.ranks} * plan.blocks);
    std::vector<bool> kept(transfers);
    for (std::size_t t = transfers; t-- > 0;) {
      const Transfer& transfer = plan.transfers[t];
      kept[t] = plan.collective == CollectiveOp::all_reduce &&
                !replaced[std::size_t{transfer.from} * plan.blocks + transfer.block];
      if (transfer.arrival != Arrival::replaces) continue;
      const std::size_t first = place_of_arrival(plan, transfer);
      std::fill_n(replaced.begin() + static_cast<std::ptrdiff_t>(first), transfer.blocks, true);
    }
    p.latch.assign(waiters, kNone);
    for (std::size_t w = 0; w < waiters; ++w) {
      const Taken& in = taken[w];
      if (in.arrivals > 0 && !in.in_place) p.latch[w] = p.latches++;
      const std::uint32_t out = w < transfers ? plan.transfers[w].blocks : 0;
      p.amount.push_back(
          kind_of(p, amount(in.blocks, in.arrivals, in.adds, out, w >= transfers || kept[w])));
    }
    return p;
  }

  // HBM traffic: what has arrived is read; what stays here is written; what is sent from here, or
  // added to, is read.
  static Amount amount(std::uint32_t in, std::uint32_t arrivals, bool adds, std::uint32_t out,
                       bool stays) {
    Amount amount{.in = in, .out = out, .traffic = out};
    if (in == 0) return amount;
    const std::uint32_t sum = std::max(out, in / arrivals);
    if (adds) {
      amount.traffic = in + sum + (stays ? sum : 0);
    } else {
      amount.traffic = 2 * in + (out > in ? out - in : 0);
    }
    return amount;
  }

  static std::uint8_t kind_of(Prepared& p, const Amount& amount) {
    const auto known = std::find(p.amounts.begin(), p.amounts.end(), amount);
    const auto kind = known - p.amounts.begin();
    if (known == p.amounts.end()) p.amounts.push_back(amount);
    SIM_ASSERT(kind < 64);  // several for each of the log n sizes of halving
    return static_cast<std::uint8_t>(kind);
  }

  // For all that lands in place, by rank.
  void add_finish_latches() {
    std::vector<std::uint32_t> landing(ranks_, 0);
    for (std::uint32_t c = 0; c < division_.channels; ++c) {
      const Prepared& p = of_channel(c);
      for (std::size_t f = 0; f < p.waits.finals.size(); ++f) {
        if (p.latch[p.plan->transfers.size() + f] != kNone) continue;
        landing[p.waits.finals[f].rank] += p.waits.finals[f].arrivals * chunks_;
      }
    }
    for (const std::uint32_t arrivals : landing) {
      finish_.push_back(arrivals > 0 ? run_.graph().add_latch(arrivals) : LatchId::none());
    }
  }

  void add_latches(std::uint32_t channel) {
    const Prepared& p = of_channel(channel);
    const std::size_t transfers = p.plan->transfers.size();
    first_latch_.push_back(run_.graph().latches.next_id().value);
    for (std::uint32_t k = 0; k < chunks_; ++k) {
      for (std::size_t w = 0; w < p.latch.size(); ++w) {
        if (p.latch[w] == kNone) continue;
        run_.graph().add_latch(w < transfers ? p.waits.arrivals[w]
                                             : p.waits.finals[w - transfers].arrivals);
      }
    }
  }

  void add_works(const Prepared& p) {
    const std::int64_t block = round_up(largest_, p.plan->blocks);
    kinds_.emplace_back();
    for (const Amount& amount : p.amounts) {
      const Duration alone = run_.copy_time(amount, block);
      const CollectiveRun::WorkKind inside =
          run_.work(amount, block, alone, CollectiveRun::Way::streamed);
      const bool staged = !run_.group().one_node && amount.out > 0;
      kinds_.back().push_back(
          {inside, staged ? run_.work(amount, block, alone, CollectiveRun::Way::staged) : inside});
    }
  }

  KernelId add_kernel(std::uint32_t rank) {
    Kernel kernel = run_.kernel(rank, division_.channels);
    kernel.finish = finish_[rank];
    std::vector<std::vector<Step>> steps;
    std::size_t longest = 0;
    for (const Prepared& p : prepared_) {
      steps.push_back(program(p, rank));
      longest = std::max(longest, steps.back().size());
    }
    const std::uint32_t nothing = longest > 0 ? run_.graph().add_work({}) : 0;
    for (std::size_t i = 0; i < longest; ++i) {
      for (std::uint32_t c = 0; c < division_.channels; ++c) {
        const std::vector<Step>& mine = steps[c % prepared_.size()];
        run_.graph().items.add(
            i < mine.size()
                ? item(c, mine[i])
                : CollectiveRun::item({.work = nothing}, 1, LatchId::none(), LatchId::none()));
      }
    }
    return run_.add(kernel, rank);
  }

  // What a channel does at one rank. Phase f of chunk k comes in turn k + f x ahead; what is moved
  // in a turn has one or several slices: while one is in flight the next is sent.
  [[nodiscard]] std::vector<Step> program(const Prepared& p, std::uint32_t rank) const {
    const Plan& plan = *p.plan;
    const auto phases = static_cast<std::uint32_t>(plan.phases.size());
    const std::uint32_t ahead = turns_ahead(p, rank);
    std::vector<std::uint32_t> finals;
    for (std::uint32_t f = 0; f < p.waits.finals.size(); ++f) {
      const auto waiter = static_cast<std::uint32_t>(plan.transfers.size()) + f;
      if (p.waits.finals[f].rank == rank && p.latch[waiter] != kNone) finals.push_back(waiter);
    }
    const auto begin = p.programs.transfers.begin() + p.programs.first[rank];
    const auto end = p.programs.transfers.begin() + p.programs.first[rank + 1];
    std::vector<Step> steps;
    const auto slices = static_cast<std::uint32_t>(division_.slices);
    const std::uint32_t turns = chunks_ / slices;
    const auto add = [&](std::uint32_t k, std::uint32_t waiter) {
      for (std::uint32_t s = 0; s < slices; ++s) {
        steps.push_back({.chunk = k * slices + s, .waiter = waiter});
      }
    };
    for (std::uint32_t turn = 0; turn < turns + (phases - 1) * ahead; ++turn) {
      for (std::uint32_t phase = 0; phase < phases; ++phase) {
        const std::uint32_t k = turn - phase * ahead;  // wraps where it has not begun
        if (k >= turns) continue;
        const bool is_last = phase + 1 == phases;
        const auto first = std::lower_bound(begin, end, plan.phases[phase]);
        const auto last = is_last ? end : std::lower_bound(begin, end, plan.phases[phase + 1]);
        for (auto t = first; t != last; ++t) add(k, *t);
        if (!is_last) continue;
        for (const std::uint32_t waiter : finals) add(k, waiter);
      }
    }
    return steps;
  }

  // By how many turns a phase is ahead of the next.
  [[nodiscard]] std::uint32_t turns_ahead(const Prepared& p, std::uint32_t rank) const {
    switch (spec_of(run_.choice().algorithm).ahead) {
      case Ahead::none:
        return 0;
      case Ahead::one:
        return 1;
      case Ahead::by_depth:
        return kSlots * p.from_root[rank];
    }
    SIM_ASSERT(false);
  }

  Item item(std::uint32_t channel, const Step& step) {
    const Prepared& p = of_channel(channel);
    const std::size_t transfers = p.plan->transfers.size();
    const Bytes chunk = chunk_bytes(channel, step.chunk);
    const auto& kinds = kinds_[channel % prepared_.size()][p.amount[step.waiter]];
    const LatchId waits_for =
        p.latch[step.waiter] == kNone ? LatchId::none() : latch(channel, step.chunk, step.waiter);
    if (step.waiter >= transfers) {
      const std::int64_t in = p.amounts[p.amount[step.waiter]].in;
      const std::int64_t size = std::max<std::int64_t>(chunk.count() * in / p.plan->blocks, 1);
      return CollectiveRun::item(kinds.inside, size, LatchId::none(), waits_for);
    }
    const Transfer& transfer = p.plan->transfers[step.waiter];
    const std::int64_t size = std::max<std::int64_t>(bytes_of(*p.plan, transfer, chunk).count(), 1);
    const std::uint32_t taker = p.waits.taken_in_by[step.waiter];
    const bool in_place = p.latch[taker] == kNone;
    const std::uint32_t to = transfer.to % ranks_;  // or the one that stands for it
    const LatchId arrives = in_place ? finish_[to] : latch(channel, step.chunk, taker);
    const LatchId out = run_.send(transfer.from, to, size, arrives, !in_place);
    const bool staged = run_.leaves_node(transfer.from, to);
    return CollectiveRun::item(staged ? kinds.staged : kinds.inside, size, out, waits_for);
  }

  [[nodiscard]] LatchId latch(std::uint32_t channel, std::uint32_t chunk,
                              std::uint32_t waiter) const {
    const Prepared& p = of_channel(channel);
    return LatchId(first_latch_[channel] + chunk * p.latches + p.latch[waiter]);
  }

  struct Kinds {
    CollectiveRun::WorkKind inside;
    CollectiveRun::WorkKind staged;
  };

  CollectiveRun& run_;
  bool in_place_;
  Division division_;
  std::uint32_t chunks_;
  std::uint32_t ranks_;
  std::vector<Prepared> prepared_;
  std::vector<Bytes> chunk_bytes_;          // all blocks, by channel and chunk
  std::int64_t largest_ = 1;                // of these
  std::vector<LatchId> finish_;             // by rank
  std::vector<std::uint32_t> first_latch_;  // by channel
  std::vector<std::vector<Kinds>> kinds_;   // by plan and kind of amount
};

}  // namespace

std::vector<KernelId> run_steps(CollectiveRun& run, const std::vector<Plan>& plans) {
  return Steps(run, plans).lower();
}

}  // namespace weft
