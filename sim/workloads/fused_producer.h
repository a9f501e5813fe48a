// FusedProducer: lowers an operator whose results are sent as they are made, and the collective
// that sends them, to one persistent kernel of each GPU; or to two, where others send.
//
// Between nodes the last WG of a slice sends the slice. Inside a node every WG stores its own
// result into the peer (zero copy) and a slice is only a flag; or (staged) the last WG stores the
// slice.
//
// In reductions each slice has an owner: the other GPUs send it their parts, and a WG of the owner
// adds them up when all have arrived: at the end, or each to the own part that it has just made
// (fused.add). For an all-reduce that WG then sends the sum to everyone, or its wave does: the
// two-phase direct algorithm, tile by tile.
//
// If the switch adds up (fused.in_switch), results stay where they are made. When the flags of all
// have come, a WG of the owner loads the sum through the switch, and for an all-reduce stores it to
// everyone through the switch too.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "sim/workloads/destination_order.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {

class FusedProducer : public FusedLowering {
 public:
  FusedProducer(TaskGraph& graph, const Overlap& overlap, Senders senders);

 private:
  // Slices of own parts that wait to be added to, in the order they are made. A slice's sum counts
  // down its latch in `done`, where waves send it.
  struct Sums {
    std::optional<std::uint32_t> work;
    std::vector<LatchId> done;
    std::vector<std::uint32_t> waiting;
  };

  void lower_team() override;
  [[nodiscard]] bool reduces() const { return op_ != CollectiveOp::all_to_all; }
  void reserve();
  void add_complete_latches();
  // The latch of GPU `d` that slice `s` from a peer counts down: slice complete, or all arrived.
  [[nodiscard]] LatchId awaits(std::uint32_t d, std::uint32_t s) const {
    return reduces() ? complete_[d][flag_per_slice_ ? s : 0] : finished_[d];
  }
  [[nodiscard]] std::vector<Logical> slices_of(std::uint32_t g) const;
  // An own part that its WG adds the others' to.
  [[nodiscard]] bool is_kept(std::uint32_t g, const Logical& slice) const {
    return with_own_ && slice.peer == g;
  }

  // fused_producer.cc: all WGs are alike.
  void add_kernel(std::uint32_t g);
  void add_turns(std::uint32_t g);
  void add_peer_flags(std::uint32_t g);
  // What WGs of a slice that stays on this GPU count down.
  [[nodiscard]] LatchId own(std::uint32_t g, const Logical& slice) const;
  LatchId stay(std::uint32_t g, const Logical& slice);
  LatchId send_slice(std::uint32_t g, const Logical& slice, std::uint32_t wgs,
                     LatchId left = LatchId::none());
  void add_sent_slice(std::uint32_t g, const Logical& slice);
  void add_stored_slice(std::uint32_t g, const Logical& slice);
  void add_item(std::uint32_t g, const Logical& slice, std::uint32_t i, LatchId out,
                std::uint32_t work, LatchId waits_for = LatchId::none());
  void add_waiting(LatchId waits_for, std::uint32_t work, LatchId counts_down);

  // fused_by_role.cc: some send, others compute.
  void add_kernels_by_role(std::uint32_t g);
  [[nodiscard]] bool leaves_from_its_cu(std::uint32_t g, const Logical& slice) const;
  [[nodiscard]] std::uint32_t stored_parts(std::uint32_t g, const Logical& slice) const;
  [[nodiscard]] std::vector<std::size_t> sent_with(std::uint32_t g,
                                                   const std::vector<Logical>& slices,
                                                   std::size_t round) const;
  std::uint32_t work_of(bool kept, std::size_t results);
  [[nodiscard]] Work kept_work() const;

  // fused_sums.cc: what owners add up.
  void add_sum_kernels();
  void add_round_of_sums(std::uint32_t g, Sums& sums, std::uint32_t slice, std::uint32_t round);
  void add_last_sums(std::uint32_t g, Sums& sums);
  void add_waiting_sums(std::uint32_t g, Sums& sums);
  void hand_over(std::uint32_t g, Sums& sums, std::uint32_t nothing);
  LatchId send_sum(std::uint32_t g);
  [[nodiscard]] std::uint32_t pieces() const;
  void add_sums_in_switch(std::uint32_t g, std::uint32_t s);

  CollectiveOp op_;
  bool flag_per_slice_;
  bool in_switch_;
  bool zero_copy_;
  bool with_own_ = false;    // parts are added to the own one while it is in registers
  std::uint16_t group_ = 0;  // of GPUs whose parts meet in the switch
  std::uint32_t slice_wgs_;
  std::uint32_t slices_;
  OperatorId sum_ = OperatorId::none();
  std::uint32_t written_ = 0;
  std::uint32_t stored_ = 0;
  std::uint32_t own_ = 0;  // of a result that stays, unless its WG adds to it
  std::uint32_t kept_ = 0;
  // By how many results are sent at the same time: written, kept.
  std::map<std::size_t, std::array<std::uint32_t, 2>> slowed_;
  std::vector<LatchId> finished_;  // by GPU: flags still to come from all peers
  Destinations destinations_;
  std::vector<std::vector<LatchId>> complete_;  // by owner and slice
  std::vector<LatchId> peer_done_;              // of the current GPU, by peer
};

}  // namespace weft
