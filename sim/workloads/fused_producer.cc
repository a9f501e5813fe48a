// Fused: results leave as they are made, from one persistent kernel per GPU. Between nodes the last
// WG of a slice sends the slice. Inside a node every WG stores its own result into the peer (zero
// copy) and a slice is only a flag; or (staged) the last WG stores the slice.
//
// In reductions each slice has an owner: the other GPUs send it their parts, and a WG of the owner
// adds them up when all have arrived. For an all-reduce that WG then sends the sum to everyone: the
// two-phase direct algorithm, tile by tile.

#include <algorithm>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/workloads/destination_order.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

class FusedProducer {
 public:
  FusedProducer(TaskGraph& graph, const Overlap& overlap)
      : options_(overlap.options),
        overlap_(overlap),
        grid_(overlap.grid),
        op_(overlap.op),
        sends_(overlap.options, overlap.cluster, overlap.grid),
        flag_per_slice_(options_.fused.flag_per == FlagPer::slice),
        zero_copy_(options_.fused.staging == Staging::zero_copy && grid_.parts == 1),
        slice_wgs_(static_cast<std::uint32_t>(options_.fused.slice_wgs) * grid_.parts),
        slices_(grid_.per_peer / slice_wgs_),
        graph_(graph) {
    SIM_ASSERT(slices_ * slice_wgs_ == grid_.per_peer);
  }

  LastKernels lower() {
    const std::size_t first_send = graph_.sends.size();
    written_ = graph_.add_work(zero_copy_ ? grid_.written : sends_.staged(grid_.written));
    stored_ = graph_.add_work(grid_.stored);
    operator_ =
        graph_.operators.push_back({.name = "fused_" + grid_.name + "_" + overlap_.collective,
                                    .role = KernelRole::fused,
                                    .part = overlap_.part});
    if (graph_.items.empty()) reserve();
    for (const Team& team : overlap_.teams) {
      SIM_ASSERT(team.gpus.size() == grid_.gpus);
      lower(team);
    }
    graph_.own_sends(first_send, operator_);
    return {.computing = made_, .communicating = made_};
  }

 private:
  void lower(const Team& team) {
    team_ = &team;
    finished_.clear();
    complete_.clear();
    node_of_.clear();
    for (const std::uint32_t gpu : team.gpus) node_of_.push_back(sends_.node_of(gpu));
    if (op_ != CollectiveOp::reduce_scatter) {  // whose reductions wait for all arrivals anyway
      const bool each = flag_per_slice_ || op_ == CollectiveOp::all_reduce;
      const std::uint32_t flags = (grid_.gpus - 1) * (each ? slices_ : 1);
      for (std::uint32_t g = 0; g < grid_.gpus; ++g) finished_.push_back(graph_.add_latch(flags));
    }
    if (reduces()) add_complete_latches();
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_kernel(g);
  }

  // GPUs are given as ranks in the current team, except in the task graph.
  [[nodiscard]] std::uint32_t gpu(std::uint32_t rank) const { return team_->gpus[rank]; }
  [[nodiscard]] bool same_node(std::uint32_t a, std::uint32_t b) const {
    return sends_.same_node(gpu(a), gpu(b));
  }
  [[nodiscard]] bool reduces() const { return op_ != CollectiveOp::all_to_all; }

  void reserve() {
    const std::size_t pairs = overlap_.teams.size() * grid_.gpus * grid_.gpus;
    graph_.items.reserve(pairs * grid_.per_peer);
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
    Kernel kernel = sends_.kernel(GpuId(gpu(g)), operator_);
    if (!finished_.empty()) kernel.finish = finished_[g];
    kernel.first_item = static_cast<std::uint32_t>(graph_.items.size());
    add_peer_flags(g);
    for (const Logical& slice : slice_order(node_of_, options_.fused.order, g, slices_)) {
      if (slice.peer != g && zero_copy_ && same_node(g, slice.peer)) {
        add_stored_slice(g, slice);
      } else {
        add_sent_slice(g, slice);
      }
    }
    if (reduces()) add_reductions(g);
    kernel.items = static_cast<std::uint32_t>(graph_.items.size()) - kernel.first_item;
    kernel.team_first = static_cast<std::uint32_t>(graph_.kernels.size()) - g;
    kernel.team_size = grid_.gpus;
    made_.push_back(graph_.add_kernel(kernel, team_->after[g]));
  }

  // One flag per peer: sent when all slices for the peer have been sent.
  void add_peer_flags(std::uint32_t g) {
    peer_done_.assign(grid_.gpus, LatchId::none());
    if (flag_per_slice_) return;
    for (std::uint32_t d = 0; d < grid_.gpus; ++d) {
      if (d == g) continue;
      const bool by_wg = zero_copy_ && same_node(d, g);
      peer_done_[d] = graph_.add_latch(by_wg ? slices_ * slice_wgs_ : slices_);
      graph_.add_send(sends_.flag(gpu(d), awaits(d, 0), FusedSends::Ordered::yes));
    }
  }

  // A slice that stays on this GPU or leaves as one message.
  void add_sent_slice(std::uint32_t g, const Logical& slice) {
    const std::uint32_t d = slice.peer;
    LatchId out = reduces() && d == g ? awaits(g, slice.index) : LatchId::none();
    if (d != g) {
      out = sends_.send_slice(graph_, gpu(g), {gpu(d), awaits(d, slice.index)},
                              grid_.bytes_of(slice_wgs_), slice_wgs_, peer_done_[d]);
    }
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

  // The owner's WGs add up what its peers have sent, slice by slice in the order they are made.
  void add_reductions(std::uint32_t g) {
    const std::int64_t size = grid_.bytes_of(slice_wgs_);
    const std::uint32_t adding = graph_.add_work(sends_.reduction(size));
    for (std::uint32_t s = 0; s < slices_; ++s) {
      const LatchId all_sent = op_ == CollectiveOp::all_reduce ? send_sum(g) : LatchId::none();
      graph_.items.push_back({.counts_down = all_sent,
                              .waits_for = awaits(g, s),
                              .work = adding & 0xFFU,
                              .scale = Item::kUnit});
    }
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
                std::uint32_t work) {
    const Logical wg{slice.peer, slice.index * slice_wgs_ + i};
    graph_.items.push_back({.counts_down = out,
                            .waits_for = LatchId::none(),
                            .work = work & 0xFFU,
                            .scale = scale_of(grid_, options_.seed, gpu(g), wg) & 0xFFFFFFU});
  }

  const OverlapOptions& options_;
  const Overlap& overlap_;
  const Grid& grid_;
  CollectiveOp op_;
  FusedSends sends_;
  bool flag_per_slice_;
  bool zero_copy_;
  std::uint32_t slice_wgs_;
  std::uint32_t slices_;
  TaskGraph& graph_;
  OperatorId operator_;
  const Team* team_ = nullptr;
  std::vector<KernelId> made_;
  std::uint32_t written_ = 0;
  std::uint32_t stored_ = 0;
  std::vector<LatchId> finished_;               // by GPU: flags still to come from all peers
  std::vector<std::uint32_t> node_of_;          // by rank
  std::vector<std::vector<LatchId>> complete_;  // by owner and slice
  std::vector<LatchId> peer_done_;              // of the current GPU, by peer
};

}  // namespace

LastKernels lower_fused_producer(TaskGraph& graph, const Overlap& overlap) {
  return FusedProducer(graph, overlap).lower();
}

}  // namespace weft
