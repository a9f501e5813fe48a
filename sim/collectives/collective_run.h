// What the ways to run a plan share: the kernel of a rank, and what an item of it costs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collectives/collective_choice.h"

namespace weft {

// Blocks that an item moves. A channel moves blocks in and out at the same time.
struct Amount {
  std::uint32_t in = 0;       // received: read from where they have arrived
  std::uint32_t out = 0;      // sent
  std::uint32_t traffic = 0;  // read and written in HBM
  bool operator==(const Amount&) const = default;
};

// A call while it is being lowered.
class CollectiveRun {
 public:
  CollectiveRun(TaskGraph& graph, const Cluster& cluster, const CollectiveCall& call,
                RankGroup group, CollectiveChoice choice);

  TaskGraph& graph() { return graph_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const CollectiveCall& call() const { return call_; }
  [[nodiscard]] const RankGroup& group() const { return group_; }
  [[nodiscard]] const CollectiveChoice& choice() const { return choice_; }
  // Those that are added; the group has more where they stand for others.
  [[nodiscard]] std::uint32_t ranks() const { return group_.size() / call_.turns; }
  [[nodiscard]] bool leaves_node(std::uint32_t from, std::uint32_t to) const {
    return !group_.one_node &&
           cluster_.node_of(GpuId(group_.gpus[from])) != cluster_.node_of(GpuId(group_.gpus[to]));
  }
  // Bytes on the wire for `size` of payload: `ll` adds an 8 B flag per 8 B, `ll128` one per 120 B.
  [[nodiscard]] std::int64_t on_wire(std::int64_t size) const;

  // The kernel of a rank, without items.
  [[nodiscard]] Kernel kernel(std::uint32_t rank, std::uint32_t grid) const;
  // Adds it with the items added to the graph since the last kernel; if there are none, with
  // one that does nothing.
  KernelId add(Kernel kernel, std::uint32_t rank);

  // Adds a send to `to` of `size` bytes of payload; returns the latch that starts it.
  LatchId send(std::uint32_t from, std::uint32_t to, std::int64_t size, LatchId arrives,
               bool taken_in);

  // Streamed: stored as it is copied, in a few parts. Staged: copied into a buffer that a NIC sends
  // from.
  enum class Way : std::uint8_t { streamed, staged };
  struct WorkKind {
    std::uint32_t work = 0;
    std::int64_t bytes = 1;  // payload that it is for, in or out
  };
  // Adds a kind of work: `amount`, in blocks of at most `block` bytes; `alone` on an idle GPU.
  WorkKind work(const Amount& amount, std::int64_t block, Duration alone, Way way);
  // A channel's time for it at the protocol's own rates, or else at the library's rate on the wire.
  [[nodiscard]] Duration copy_time(const Amount& amount, std::int64_t block) const;
  [[nodiscard]] Duration wire_time(std::int64_t size, Bandwidth rate) const {
    return transfer_time(bytes(on_wire(size)), rate);
  }
  // The part of a protocol's rate that applies to what this call moves.
  [[nodiscard]] Bandwidth of_what_moves(Bandwidth rate) const;
  // An item of this kind that moves `size` bytes, at most kind.bytes.
  static Item item(const WorkKind& kind, std::int64_t size, LatchId counts_down, LatchId waits_for);

 private:
  TaskGraph& graph_;
  const Cluster& cluster_;
  const CollectiveCall& call_;
  RankGroup group_;
  CollectiveChoice choice_;
};

std::vector<KernelId> run_exchange(CollectiveRun& run, const Plan& plan);
std::vector<KernelId> run_peer_parts(CollectiveRun& run, const Plan& plan);
std::vector<KernelId> run_steps(CollectiveRun& run, const std::vector<Plan>& plans);
std::vector<KernelId> run_copies(CollectiveRun& run, const Plan& plan);
std::vector<KernelId> run_in_switch(CollectiveRun& run);
std::vector<KernelId> run_loads(CollectiveRun& run);
std::vector<KernelId> run_in_switch_tree(CollectiveRun& run);

// Items and sends of a call whose channels are divided among the peers.
CollectiveCounts count_peer_parts(const Cluster& cluster, const CollectiveCall& call,
                                  std::int64_t ranks, double sent);

// Items and sends of a call that the switch performs; a load counts once per GPU that it reads.
CollectiveCounts count_in_switch(const Cluster& cluster, const CollectiveCall& call,
                                 std::int64_t ranks, CollectiveChoice choice);
// Items and sends of an engine's kernel that loads from its peers' memory.
CollectiveCounts count_loads(const Cluster& cluster, const CollectiveCall& call, std::int64_t ranks,
                             Algorithm algorithm);
CollectiveCounts count_in_switch_tree(const Cluster& cluster, const CollectiveCall& call,
                                      const RankGroup& group);
// Items and sends of a call by copy engines.
CollectiveCounts count_copies(const Cluster& cluster, const CollectiveCall& call,
                              std::int64_t transfers);

}  // namespace weft
