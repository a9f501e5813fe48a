// Fused: results leave as they are made, from one persistent kernel per GPU. Between nodes the last
// WG of a slice sends the slice. Inside a node every WG stores its own result into the peer (zero
// copy) and a slice is only a flag; or (staged) the last WG stores the slice.
//
// In reductions each slice has an owner: the other GPUs send it their parts, and a WG of the owner
// adds them up when all have arrived. For an all-reduce that WG then sends the sum to everyone: the
// two-phase direct algorithm, tile by tile.
//
// If the switch adds up (fused.in_switch), results stay where they are made. When the flags of all
// have come, a WG of the owner loads the sum through the switch, and for an all-reduce stores it to
// everyone through the switch too.

#include <algorithm>
#include <array>
#include <map>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/workloads/destination_order.h"
#include "sim/workloads/fused_kernel.h"
#include "sim/workloads/plain_kernel.h"

namespace weft {
namespace {

class FusedProducer : public FusedLowering {
 public:
  FusedProducer(TaskGraph& graph, const Overlap& overlap, Senders senders)
      : FusedLowering(graph, overlap, senders, overlap.grid.name + "_" + overlap.collective),
        op_(overlap.op),
        flag_per_slice_(options_.fused.flag_per == FlagPer::slice),
        in_switch_(senders != Senders::copy_engines && goes_through_switch(overlap)),
        zero_copy_(options_.fused.staging == Staging::zero_copy && grid_.parts == 1 && !by_role() &&
                   !in_switch_),
        slice_wgs_(static_cast<std::uint32_t>(options_.fused.slice_wgs) * grid_.parts),
        slices_(grid_.per_peer / slice_wgs_) {
    SIM_ASSERT(slices_ * slice_wgs_ == grid_.per_peer);
    if (senders == Senders::copy_engines) {  // a kernel adds up what has arrived
      op_ = CollectiveOp::all_to_all;
      flag_per_slice_ = false;
    }
    const bool stays = zero_copy_ || by_role() || in_switch_;
    written_ = graph.add_work(stays ? grid_.written : sends_.staged(grid_.written));
    stored_ = graph.add_work(grid_.stored);
    if (by_role()) kept_ = graph.add_work(kept_work());
    if (graph.items.empty()) reserve();
  }

 private:
  void lower_team() override {
    finished_.clear();
    complete_.clear();
    destinations_ = destinations(overlap_.cluster, team_->gpus);
    if (op_ != CollectiveOp::reduce_scatter) {  // whose reductions wait for all arrivals anyway
      const bool each = flag_per_slice_ || op_ == CollectiveOp::all_reduce;
      const std::uint32_t own = by_role() && !reduces() ? grid_.per_peer : 0;
      const std::uint32_t flags = in_switch_ ? grid_.gpus * slices_ * pieces()
                                             : (grid_.gpus - 1) * (each ? slices_ : 1) + own;
      for (std::uint32_t g = 0; g < grid_.gpus; ++g) finished_.push_back(graph_.add_latch(flags));
    }
    if (in_switch_) group_ = graph_.add_group(team_->gpus);
    if (reduces()) add_complete_latches();
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      by_role() ? add_kernels_by_role(g) : add_kernel(g);
    }
    if (senders_ == Senders::copy_engines) add_sums();
  }

  [[nodiscard]] bool reduces() const { return op_ != CollectiveOp::all_to_all; }

  void reserve() {
    const std::size_t pairs = overlap_.teams.size() * grid_.gpus * grid_.gpus;
    graph_.items.reserve_runs(pairs * slices_);
    graph_.latches.reserve(pairs * (slices_ + 1));
    graph_.sends.reserve(pairs * (slices_ + 1));
  }

  // For each owner and slice, a latch that opens when all parts are there, its own and its peers'.
  // With one flag per peer this can only be known for all slices at once.
  void add_complete_latches() {
    const std::uint32_t peers = grid_.gpus - 1;
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      complete_.emplace_back();
      for (std::uint32_t s = 0; s < (flag_per_slice_ ? slices_ : 1); ++s) {
        const std::uint32_t own = flag_per_slice_ ? slice_wgs_ : grid_.per_peer;
        complete_[g].push_back(graph_.add_latch(peers + own));
      }
    }
  }

  // The latch of GPU `d` that slice `s` from a peer counts down: slice complete, or all arrived.
  [[nodiscard]] LatchId awaits(std::uint32_t d, std::uint32_t s) const {
    return reduces() ? complete_[d][flag_per_slice_ ? s : 0] : finished_[d];
  }

  void add_kernel(std::uint32_t g) {
    Kernel kernel = begin(g, FusedSends::Wgs::all);
    if (!finished_.empty()) kernel.finish = finished_[g];
    add_peer_flags(g);
    if (in_switch_) {
      add_turns(g);
      return end(g, kernel);
    }
    for (const Logical& slice : slices_of(g)) {
      if (slice.peer != g && zero_copy_ && same_node(g, slice.peer)) {
        add_stored_slice(g, slice);
      } else {
        add_sent_slice(g, slice);
      }
    }
    if (reduces()) add_reductions(g);
    end(g, kernel);
  }

  // A wave stores a result into a peer of its node from where it was made; a NIC, and WGs on other
  // CUs, read it from memory.
  [[nodiscard]] bool leaves_from_its_cu(std::uint32_t g, const Logical& slice) const {
    return senders_ == Senders::waves && grid_.parts == 1 && slice.peer != g && !in_switch_ &&
           same_node(g, slice.peer);
  }

  // WGs or waves that compute leave their results here; others send a slice when it is complete, in
  // the order in which slices are made. They add up what comes, too.
  void add_kernels_by_role(std::uint32_t g) {
    const std::vector<Logical> slices = slices_of(g);
    Kernel sending = begin_sending(g);
    add_peer_flags(g);
    const std::uint32_t reading = graph_.add_work(sends_.reading(grid_.bytes_of(slice_wgs_)));
    const std::uint32_t nothing = graph_.add_work({});
    const Kernel computing = begin_computing(g);
    const std::size_t items = slices.size() * slice_wgs_;
    const std::size_t round = std::min<std::size_t>(computing.max_grid, items);
    // A WG that has made a result hands it to its wave, and makes the next ones while that sends:
    // as many as it has buffers for. So the WG that makes number p of all, a round of WGs after
    // p - R, begins once number p - (1 + unsent) R has left.
    const std::size_t ahead = (1 + static_cast<std::size_t>(options_.fused.unsent)) * round;
    std::vector<LatchId> made;
    std::vector<LatchId> left;  // of slices that WGs wait for
    for (const Logical& slice : slices) {
      const bool stays = slice.peer == g || in_switch_;
      const bool from_cu = leaves_from_its_cu(g, slice);
      const bool awaited = from_cu && (left.size() + 1) * slice_wgs_ + ahead <= items;
      made.push_back(stays ? stay(g, slice) : graph_.add_latch(slice_wgs_));
      left.push_back(awaited ? graph_.add_latch(1) : LatchId::none());
      if (stays) continue;
      add_waiting(made.back(), from_cu ? nothing : reading, send_slice(g, slice, 1, left.back()));
    }
    if (adds_apart()) {
      end_before_adding(g, sending);
      sending = begin_adding(g);
    }
    if (!finished_.empty()) sending.finish = finished_[g];
    if (reduces()) add_reductions(g);
    end(g, sending);
    const std::vector<std::size_t> sent = sent_with(g, slices, round);
    for (std::size_t number = 0; number < items; ++number) {
      const std::size_t s = number / slice_wgs_;
      const bool waits = number + 1 >= ahead + slice_wgs_;
      add_item(g, slices[s], static_cast<std::uint32_t>(number % slice_wgs_), made[s],
               work_of(leaves_from_its_cu(g, slices[s]), number < round ? 0 : sent[number - round]),
               waits ? left[(number + 1 - ahead) / slice_wgs_ - 1] : LatchId::none());
    }
    end(g, computing);
  }

  // Of each result that its wave sends, how many of its round are sent: about at the same time.
  // 0: it is not, or that slows nobody.
  [[nodiscard]] std::vector<std::size_t> sent_with(std::uint32_t g,
                                                   const std::vector<Logical>& slices,
                                                   std::size_t round) const {
    std::vector<std::size_t> sent(slices.size() * slice_wgs_);
    if (options_.fused.rate_while_sending == 1) return sent;
    for (std::size_t first = 0; first < sent.size(); first += round) {
      std::vector<std::size_t> together;
      for (std::size_t i = first; i < std::min(sent.size(), first + round); ++i) {
        if (leaves_from_its_cu(g, slices[i / slice_wgs_])) together.push_back(i);
      }
      for (const std::size_t i : together) sent[i] = together.size();
    }
    return sent;
  }

  // Of a result whose CU has one to send from the round before, with so many others.
  std::uint32_t work_of(bool from_cu, std::size_t results) {
    if (results == 0) return from_cu ? kept_ : written_;
    const auto [known, added] = slowed_.try_emplace(results);
    if (added) {
      const Duration lost = sends_.lost_while_sending(grid_.bytes_of(1), results);
      const auto slowed = [&](Work work) {
        work.fixed += lost;
        return graph_.add_work(work);
      };
      known->second = {slowed(grid_.written), slowed(kept_work())};
    }
    return known->second[from_cu ? 1 : 0];
  }

  // What a WG does for a result that its wave sends from where it was made.
  [[nodiscard]] Work kept_work() const {
    Work kept = grid_.stored;
    kept.shares = 1;
    return kept;
  }

  // A kernel of its own adds up the parts that have come.
  void add_sums() {
    const std::size_t first = made_.computing.size() - grid_.gpus;
    if (sum_.is_none()) {
      sum_ = graph_.operators.push_back(
          {.name = "sum", .role = KernelRole::collective, .part = overlap_.collective_part});
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      made_.communicating.push_back(add_plan(graph_, overlap_, gpu(g), sum_,
                                             overlap_.peer_kernels->sum,
                                             {made_.computing[first + g]}));
    }
  }

  [[nodiscard]] std::vector<Logical> slices_of(std::uint32_t g) const {
    if (!in_switch_) return slice_order(destinations_, options_.fused.order, g, slices_);
    std::vector<Logical> turns;
    for (std::uint32_t s = 0; s < slices_; ++s) {
      for (std::uint32_t step = 1; step <= grid_.gpus; ++step) {
        turns.push_back({(g + step) % grid_.gpus, s});
      }
    }
    return turns;
  }

  // A sum can be loaded once everyone has made its part. So all make a slice for each owner in
  // turn, and each owner adds up, between the slices of a turn and those of the next, what was made
  // so many turns ago that all WGs have ended since. That waits for earlier turns only.
  void add_turns(std::uint32_t g) {
    const std::vector<Logical> slices = slices_of(g);
    const std::int64_t at_once =
        resident_on_gpu(overlap_.cluster.spec.gpu, grid_.wg, fused_version(options_.fused));
    const auto late =
        static_cast<std::uint32_t>(round_up(at_once, std::int64_t{grid_.gpus} * slice_wgs_) + 1);
    for (std::uint32_t turn = 0; turn < slices_ + late; ++turn) {
      if (turn < slices_) {
        for (std::uint32_t i = 0; i < grid_.gpus; ++i) {
          add_sent_slice(g, slices[turn * grid_.gpus + i]);
        }
      }
      if (turn >= late) add_sums_in_switch(g, turn - late);
    }
  }

  // One flag per peer: sent when all slices for the peer have been sent.
  void add_peer_flags(std::uint32_t g) {
    peer_done_.assign(grid_.gpus, LatchId::none());
    if (flag_per_slice_) return;
    for (std::uint32_t d = 0; d < grid_.gpus; ++d) {
      if (d == g) continue;
      const bool by_wg = in_switch_ || (zero_copy_ && same_node(d, g));
      peer_done_[d] = graph_.add_latch(by_wg ? slices_ * slice_wgs_ : slices_);
      graph_.add_send(sends_.flag(gpu(d), awaits(d, 0), FusedSends::Ordered::yes));
    }
  }

  // What WGs of a slice that stays on this GPU count down.
  [[nodiscard]] LatchId own(std::uint32_t g, const Logical& slice) const {
    if (reduces()) return awaits(g, slice.index);
    return by_role() ? finished_[g] : LatchId::none();
  }

  // What WGs of a slice whose results stay here count down: the last one tells the owner.
  LatchId stay(std::uint32_t g, const Logical& slice) {
    const std::uint32_t d = slice.peer;
    if (d == g) return own(g, slice);
    if (!peer_done_[d].is_none()) return peer_done_[d];
    const LatchId made = graph_.add_latch(slice_wgs_);
    graph_.add_send(sends_.flag(gpu(d), awaits(d, slice.index), FusedSends::Ordered::no));
    return made;
  }

  // A latch for `wgs` WGs, of which the last sends the slice as one message.
  LatchId send_slice(std::uint32_t g, const Logical& slice, std::uint32_t wgs,
                     LatchId left = LatchId::none()) {
    const std::uint32_t d = slice.peer;
    return sends_.send_slice(graph_, gpu(g), {gpu(d), awaits(d, slice.index), left},
                             grid_.bytes_of(slice_wgs_), wgs, peer_done_[d]);
  }

  // A slice that stays on this GPU or leaves as one message.
  void add_sent_slice(std::uint32_t g, const Logical& slice) {
    const bool stays = slice.peer == g || in_switch_;
    const LatchId out = stays ? stay(g, slice) : send_slice(g, slice, slice_wgs_);
    for (std::uint32_t i = 0; i < slice_wgs_; ++i) add_item(g, slice, i, out, written_);
  }

  // Every WG stores and fences its own result; the last of the slice sends the flag.
  void add_stored_slice(std::uint32_t g, const Logical& slice) {
    const std::uint32_t d = slice.peer;
    LatchId then = peer_done_[d];
    if (flag_per_slice_) {
      then = graph_.add_latch(slice_wgs_);
      graph_.add_send(sends_.flag(gpu(d), awaits(d, slice.index), FusedSends::Ordered::no));
    }
    for (std::uint32_t i = 0; i < slice_wgs_; ++i) {
      const LatchId out = graph_.add_latch(1);
      graph_.add_send(
          {.to = gpu(d), .size = static_cast<std::uint32_t>(grid_.result_bytes), .issued = then});
      add_item(g, slice, i, out, stored_);
    }
  }

  // Of what the switch adds up for a slice, each as much as a WG has in flight.
  [[nodiscard]] std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(round_up(grid_.bytes_of(slice_wgs_), wg_in_flight(grid_.wg)));
  }

  // A WG loads a sum; it, or another, keeps it or stores it to everyone.
  void add_sums_in_switch(std::uint32_t g, std::uint32_t s) {
    const std::int64_t size = grid_.bytes_of(slice_wgs_);
    const std::int64_t most = std::min(size, wg_in_flight(grid_.wg));
    const bool to_all = op_ == CollectiveOp::all_reduce;
    const Work keeping = to_all ? Work{} : copy_work(overlap_.cluster.spec.gpu, grid_.wg, 0, most);
    const std::uint32_t nothing = graph_.add_work({});
    const std::uint32_t keeps = graph_.add_work(keeping);
    for (std::int64_t first = 0; first < size; first += most) {
      const std::int64_t piece = std::min(most, size - first);
      const LatchId sum = graph_.add_latch(1);
      add_waiting(awaits(g, s), nothing, sends_.load_sum(graph_, gpu(g), group_, piece, sum));
      const LatchId out =
          to_all ? sends_.multicast(graph_, gpu(g), group_, piece, finished_[0]) : LatchId::none();
      graph_.items.add({.counts_down = out,
                        .waits_for = sum,
                        .work = keeps & 0xFFU,
                        .scale = part_of_item(piece, most) & 0xFFFFFFU});
    }
  }

  // The owner's WGs add up what its peers have sent, slice by slice in the order they are made.
  void add_reductions(std::uint32_t g) {
    if (in_switch_) {
      for (std::uint32_t s = 0; s < slices_; ++s) add_sums_in_switch(g, s);
      return;
    }
    const std::int64_t size = grid_.bytes_of(slice_wgs_);
    const std::uint32_t adding = graph_.add_work(sends_.reduction(size));
    for (std::uint32_t s = 0; s < slices_; ++s) {
      const LatchId all_sent = op_ == CollectiveOp::all_reduce ? send_sum(g) : LatchId::none();
      add_waiting(awaits(g, s), adding, all_sent);
    }
  }

  void add_waiting(LatchId waits_for, std::uint32_t work, LatchId counts_down) {
    graph_.items.add({.counts_down = counts_down,
                      .waits_for = waits_for,
                      .work = work & 0xFFU,
                      .scale = Item::kUnit});
  }

  // Sends the sum of a slice from its owner to everyone.
  LatchId send_sum(std::uint32_t g) {
    std::vector<Parcel> peers;
    for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
      const std::uint32_t d = (g + step) % grid_.gpus;
      peers.push_back({{gpu(d), finished_[d]}, grid_.bytes_of(slice_wgs_)});
    }
    return sends_.send_to_all(graph_, gpu(g), peers);
  }

  void add_item(std::uint32_t g, const Logical& slice, std::uint32_t i, LatchId out,
                std::uint32_t work, LatchId waits_for = LatchId::none()) {
    const Logical wg{slice.peer, slice.index * slice_wgs_ + i};
    graph_.items.add({.counts_down = out,
                      .waits_for = waits_for,
                      .work = work & 0xFFU,
                      .scale = scale_of(grid_, options_.seed, gpu(g), wg) & 0xFFFFFFU});
  }

  CollectiveOp op_;
  bool flag_per_slice_;
  bool in_switch_;
  bool zero_copy_;
  std::uint16_t group_ = 0;  // of GPUs whose parts meet in the switch
  std::uint32_t slice_wgs_;
  std::uint32_t slices_;
  OperatorId sum_ = OperatorId::none();
  std::uint32_t written_ = 0;
  std::uint32_t stored_ = 0;
  std::uint32_t kept_ = 0;
  // By how many results are sent at the same time: written, kept.
  std::map<std::size_t, std::array<std::uint32_t, 2>> slowed_;
  std::vector<LatchId> finished_;  // by GPU: flags still to come from all peers
  Destinations destinations_;
  std::vector<std::vector<LatchId>> complete_;  // by owner and slice
  std::vector<LatchId> peer_done_;              // of the current GPU, by peer
};

}  // namespace

LastKernels lower_fused_producer(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  return FusedProducer(graph, overlap, senders).lower();
}

}  // namespace weft
