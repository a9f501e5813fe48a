// What fused kernels share: the persistent kernel itself, who sends, and how.
//
// Between nodes a message is a put of several queue entries: payload, fence, flag. Inside a node it
// is stores, a fence that waits until they have arrived, and a flag, which is stored too.
#pragma once

#include <string>
#include <vector>

#include "sim/workloads/grid.h"

namespace weft {

// Whether the team is in a node where every pair of GPUs has a link of its own: then only sending
// to all peers at once uses all links.
bool each_pair_has_a_link(const Overlap& overlap, const Team& team);

// The version of a pair's operator in this mode, in a group of these GPUs.
KernelVersion version_of_pair(Mode mode, const OverlapOptions& options, CollectiveOp op,
                              Travels travels, const Cluster& cluster,
                              const std::vector<std::uint32_t>& gpus);

// Whether the switch of a node adds up or copies (fused.in_switch) what this collective moves among
// these GPUs: they are in one node, and there is something to add up or to copy.
bool goes_through_switch(const FusedOptions& fused, CollectiveOp op, const Cluster& cluster,
                         const std::vector<std::uint32_t>& gpus);
// For all of its teams.
bool goes_through_switch(const Overlap& overlap);

// What a WG has in flight at a time.
constexpr std::int64_t wg_in_flight(const WgShape& wg) {
  return std::int64_t{wg.threads} * wg.loads_in_flight * kLoadBytes;
}

// The scale of an item that does `part` of `whole` of its work; at least something.
constexpr std::uint32_t part_of_item(std::int64_t part, std::int64_t whole) {
  return static_cast<std::uint32_t>((part * Item::kUnit + whole - 1) / whole);
}

// A receiver of a message, and which of its latches the arrival counts down.
struct Addressee {
  std::uint32_t gpu;
  LatchId told;                     // counted down by the flag after the message
  LatchId there = LatchId::none();  // inside the node: by the message itself
};

// What one WG sends to one of several peers.
struct Parcel {
  Addressee to;
  std::int64_t size;
};

class FusedSends {
 public:
  FusedSends(const OverlapOptions& options, const Cluster& cluster, const Grid& grid);

  // Which of a kernel's WGs: all of them; if some CUs only send, those there or all others; those
  // that send before they compute; or the wave of each CU that sends.
  enum class Wgs : std::uint8_t { all, computing, sending, sending_first, sending_wave };
  [[nodiscard]] Kernel kernel(GpuId gpu, OperatorId op, Wgs wgs) const;
  [[nodiscard]] std::uint32_t node_of(std::uint32_t gpu) const {
    return cluster_.node_of(GpuId(gpu));
  }
  [[nodiscard]] bool same_node(std::uint32_t a, std::uint32_t b) const {
    return node_of(a) == node_of(b);
  }

  // A flag that is a message of its own. Ordered: after all earlier ordered messages of its pair.
  enum class Ordered : std::uint8_t { no, yes };
  [[nodiscard]] static Send flag(std::uint32_t to, LatchId told, Ordered ordered);

  // A latch for `wgs` WGs; the last of them sends all their results as one message of `size` to
  // `peer`. Its flag counts down `peer.told`. If `done` is given, the message has no flag and
  // counts down `done` instead, for one flag after several messages.
  // Inside the node in `parts`, each stored when the one before has left.
  LatchId send_slice(TaskGraph& graph, std::uint32_t from, const Addressee& peer, std::int64_t size,
                     std::uint32_t wgs, LatchId done, std::uint32_t parts = 1) const;

  // A latch for one WG that then sends all of them, each with its flag.
  LatchId send_to_all(TaskGraph& graph, std::uint32_t from,
                      const std::vector<Parcel>& parcels) const;

  // A latch for one WG that then stores to all of the group at once, itself included: `size` bytes
  // and, after a fence, a flag. The switch copies both (multimem.st). Rank r's flag counts down the
  // r-th latch from `told` on.
  LatchId multicast(TaskGraph& graph, std::uint32_t from, std::uint16_t group, std::int64_t size,
                    LatchId told) const;
  // A latch for one WG that then loads what all of the group hold of `size` bytes; the switch adds
  // it up (multimem.ld_reduce), and `sum` is counted down when the sum is there.
  LatchId load_sum(TaskGraph& graph, std::uint32_t by, std::uint16_t group, std::int64_t size,
                   LatchId sum) const;
  // The same work, then copying its result to the buffer that it is sent from.
  [[nodiscard]] Work staged(Work work) const;

  // What a CU loses by fused.rate_while_sending while its wave stores into peers what its WGs have
  // made in a round, of which all CUs have made `results` of `size` to be sent. As many waves as
  // may (fused.sending_waves) share the links: a result takes as long as those need for one of
  // each, or as one wave does by itself.
  [[nodiscard]] Duration lost_while_sending(std::int64_t size, std::size_t results) const;

  // Reading what is to be sent.
  [[nodiscard]] Work reading(std::int64_t size) const;

  // Adding up `parts` of `size` bytes each that are in memory, the GPU's own among them or not.
  [[nodiscard]] Work reduction(std::int64_t size, std::uint32_t parts) const;

 private:
  [[nodiscard]] Send put(std::uint32_t to, std::int64_t size) const;
  // Where nobody says: as many as fill the links of the node, each piece read, stored and fenced
  // before the next, but no more than half.
  [[nodiscard]] std::uint32_t sending_cus() const;
  [[nodiscard]] Bandwidth sending_rate() const;  // of a WG or wave that only sends
  // Of all links that a GPU of the node has.
  [[nodiscard]] Bandwidth leaving_rate() const;

  const OverlapOptions& options_;
  const Cluster& cluster_;
  const Grid& grid_;
};

// Lowers an operator and its collective, team by team, to one kernel of each GPU; or to two, where
// some CUs or waves only send, or some WGs do before they compute (those come up when these end):
// one kernel in truth, whose WGs or waves part by their role.
class FusedLowering {
 public:
  virtual ~FusedLowering() = default;
  LastKernels lower();

 protected:
  FusedLowering(TaskGraph& graph, const Overlap& overlap, Senders senders, std::string name);

  virtual void lower_team() = 0;  // adds the kernels of all its ranks

  // GPUs are given as ranks in the current team, except in the task graph.
  [[nodiscard]] std::uint32_t gpu(std::uint32_t rank) const { return team_->gpus[rank]; }
  [[nodiscard]] bool same_node(std::uint32_t a, std::uint32_t b) const {
    return sends_.same_node(gpu(a), gpu(b));
  }

  [[nodiscard]] bool by_role() const {
    return senders_ == Senders::cus || senders_ == Senders::waves || senders_ == Senders::first_wgs;
  }

  // Items that are added from the first call to the second one are this kernel's. It starts after
  // what the team waits for, or after `after`.
  Kernel begin(std::uint32_t rank, FusedSends::Wgs wgs) const;
  Kernel begin_computing(std::uint32_t rank) const;  // all that does not send only
  Kernel begin_sending(std::uint32_t rank) const;    // by role
  // A kernel without items gets one that does nothing: an expert without tokens.
  void end(std::uint32_t rank, Kernel kernel);
  void end(std::uint32_t rank, Kernel kernel, const std::vector<KernelId>& after);

  TaskGraph& graph_;
  const Overlap& overlap_;
  const OverlapOptions& options_;
  const Grid& grid_;
  Senders senders_;
  FusedSends sends_;
  OperatorId operator_;
  OperatorId sending_ = OperatorId::none();
  const Team* team_ = nullptr;
  bool wgs_add_ = false;  // sums are added up by the WGs that compute, though others send
  // By role, the sending kernel ends last where results travel, since it waits for all of them; the
  // computing one where input does, and where its WGs add up what has come.
  LastKernels made_;

 private:
  std::string name_;
};

}  // namespace weft
