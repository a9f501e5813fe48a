// Kernels whose WGs are all alike: each sends what it has made.
#include "sim/workloads/fused_producer.h"

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {

FusedProducer::FusedProducer(TaskGraph& graph, const Overlap& overlap, Senders senders)
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
  wgs_add_ = senders == Senders::waves && reduces() && !in_switch_;
  // The others' parts of the own results that a WG has made must come by themselves, and be known
  // to have come before all of them have.
  const bool own_first = options_.fused.order == DestinationOrder::local_first;
  with_own_ = options_.fused.add == FusedAdd::with_own && reduces() && !in_switch_ && !own_first &&
              flag_per_slice_ && senders != Senders::cus && grid_.parts == 1;
  const bool stays = zero_copy_ || by_role() || in_switch_;
  Work written = stays ? grid_.written : sends_.staged(grid_.written);
  written_ = graph.add_work(written);
  stored_ = graph.add_work(grid_.stored);
  written.fenced =
      options_.fused.fence_of == FenceOf::all && reduces() && flag_per_slice_ && zero_copy_;
  own_ = graph.add_work(written);
  if (by_role()) kept_ = graph.add_work(kept_work());
  if (graph.items.empty()) reserve();
}

void FusedProducer::lower_team() {
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
  if (senders_ == Senders::copy_engines) add_sum_kernels();
}

void FusedProducer::reserve() {
  const std::size_t pairs = overlap_.teams.size() * grid_.gpus * grid_.gpus;
  graph_.items.reserve_runs(pairs * slices_);
  graph_.latches.reserve(pairs * (slices_ + 1));
  graph_.sends.reserve(pairs * (slices_ + 1));
}

// For each owner and slice, a latch that opens when all parts are there, its own and its peers'.
// With one flag per peer this can only be known for all slices at once.
void FusedProducer::add_complete_latches() {
  const std::uint32_t peers = grid_.gpus - 1;
  for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
    complete_.emplace_back();
    for (std::uint32_t s = 0; s < (flag_per_slice_ ? slices_ : 1); ++s) {
      const std::uint32_t own = flag_per_slice_ ? slice_wgs_ : grid_.per_peer;
      complete_[g].push_back(graph_.add_latch(peers + own));
    }
  }
}

void FusedProducer::add_kernel(std::uint32_t g) {
  Kernel kernel = begin(g, FusedSends::Wgs::all);
  if (!finished_.empty()) kernel.finish = finished_[g];
  add_peer_flags(g);
  if (in_switch_) {
    add_turns(g);
    return end(g, kernel);
  }
  Sums sums;
  for (const Logical& slice : slices_of(g)) {
    if (slice.peer != g && zero_copy_ && same_node(g, slice.peer)) {
      add_stored_slice(g, slice);
    } else {
      add_sent_slice(g, slice);
    }
    if (is_kept(g, slice)) add_round_of_sums(g, sums, slice.index, kernel.max_grid);
  }
  add_last_sums(g, sums);
  end(g, kernel);
}

std::vector<Logical> FusedProducer::slices_of(std::uint32_t g) const {
  if (!in_switch_) {
    const auto at_once = static_cast<std::uint32_t>(
        resident_on_gpu(overlap_.cluster.spec.gpu, grid_.wg, fused_version(options_.fused)));
    return slice_order(destinations_, options_.fused.order, g, slices_, at_once / slice_wgs_);
  }
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
void FusedProducer::add_turns(std::uint32_t g) {
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
void FusedProducer::add_peer_flags(std::uint32_t g) {
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
LatchId FusedProducer::own(std::uint32_t g, const Logical& slice) const {
  if (reduces()) return awaits(g, slice.index);
  return by_role() ? finished_[g] : LatchId::none();
}

// What WGs of a slice whose results stay here count down: the last one tells the owner.
LatchId FusedProducer::stay(std::uint32_t g, const Logical& slice) {
  const std::uint32_t d = slice.peer;
  if (d == g) return own(g, slice);
  if (!peer_done_[d].is_none()) return peer_done_[d];
  const LatchId made = graph_.add_latch(slice_wgs_);
  graph_.add_send(sends_.flag(gpu(d), awaits(d, slice.index), FusedSends::Ordered::no));
  return made;
}

// A latch for `wgs` WGs, of which the last sends the slice as one message.
LatchId FusedProducer::send_slice(std::uint32_t g, const Logical& slice, std::uint32_t wgs,
                                  LatchId left) {
  const std::uint32_t d = slice.peer;
  return sends_.send_slice(graph_, gpu(g), {gpu(d), awaits(d, slice.index), left},
                           grid_.bytes_of(slice_wgs_), wgs, peer_done_[d], stored_parts(g, slice));
}

// A slice that stays on this GPU or leaves as one message.
void FusedProducer::add_sent_slice(std::uint32_t g, const Logical& slice) {
  const bool stays = slice.peer == g || in_switch_;
  const LatchId out = stays ? stay(g, slice) : send_slice(g, slice, slice_wgs_);
  const std::uint32_t made_here = slice.peer == g ? own_ : written_;
  const std::uint32_t work = is_kept(g, slice) ? stored_ : made_here;
  for (std::uint32_t i = 0; i < slice_wgs_; ++i) add_item(g, slice, i, out, work);
}

// Every WG stores and fences its own result; the last of the slice sends the flag.
void FusedProducer::add_stored_slice(std::uint32_t g, const Logical& slice) {
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

void FusedProducer::add_waiting(LatchId waits_for, std::uint32_t work, LatchId counts_down) {
  graph_.items.add({.counts_down = counts_down,
                    .waits_for = waits_for,
                    .work = work & 0xFFU,
                    .scale = Item::kUnit});
}

void FusedProducer::add_item(std::uint32_t g, const Logical& slice, std::uint32_t i, LatchId out,
                             std::uint32_t work, LatchId waits_for) {
  const Logical wg{slice.peer, slice.index * slice_wgs_ + i};
  graph_.items.add({.counts_down = out,
                    .waits_for = waits_for,
                    .work = work & 0xFFU,
                    .scale = scale_of(grid_, options_.seed, gpu(g), wg) & 0xFFFFFFU});
}

LastKernels lower_fused_producer(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  return FusedProducer(graph, overlap, senders).lower();
}

}  // namespace weft
