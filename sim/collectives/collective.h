// The collectives of a library: a kernel of channels, or copy engines, per GPU.
//
// A call is planned (collective_plan.h), by the algorithm and the protocol that its options name or
// that the library would choose, and the plan is run piece by piece of the buffer:
//
//   collective_exchange.cc  plans of one step, in which nobody waits: WGs take transfers in turn
//   collective_steps.cc     plans of several steps: each channel has a part of the buffer
//   collective_copies.cc    copy engines
//   collective_in_switch.cc no plan: the switch adds up and copies
//   collective_loads.cc     no plan: an inference engine's WGs load from their peers' memory
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/tasks/task_graph.h"

namespace weft {

class GroupsAtOnce;  // rank_group.h

struct CollectiveCall {
  CollectiveOp op = CollectiveOp::all_to_all;
  // Per GPU. All-to-all and reduce-scatter: what it sends from; all-gather: what it receives into;
  // all-reduce: what is reduced. That is n blocks, one per GPU of the group. Broadcast: the whole
  // message.
  Bytes buffer;
  CollectiveOptions options;
  OperatorId operator_id;
  Duration launch;                           // from a dependency's end to the kernel's start
  std::vector<std::vector<KernelId>> after;  // dependencies, by rank; may be empty
  CuRange cus;                               // that its channels may use
  int priority = 0;                          // of its stream
  std::vector<std::uint32_t> ranks;          // GPUs of the group, in rank order; empty: all
  // Where these are the first of a larger group and stand for it (Cluster::whole): it is a ring,
  // and the last of them sends to the first instead of to the next. 1: they are all.
  std::uint32_t turns = 1;
  const GroupsAtOnce* at_once = nullptr;  // all groups that make this call; null: only this one
  std::uint32_t root = 0;                 // rank that broadcasts, or sends point to point ...
  std::uint32_t target = 1;               // ... to this one
  std::vector<std::int64_t> pair_bytes;   // uneven all-to-all: [from * ranks + to], else empty
};

// Adds one kernel per GPU of the group to the graph; returns them by rank. A kernel ends when all
// that it sends has left it and all that others send to it has arrived. The algorithm and the
// protocol are appended to the operator's name: "all_reduce (ring, simple)".
std::vector<KernelId> add_collective(TaskGraph& graph, const Cluster& cluster,
                                     const CollectiveCall& call);

// What add_collective adds, or a little more; for an uneven all-to-all, as if all pairs had as much
// as the largest.
struct CollectiveCounts {
  double items = 0;
  double sends = 0;
  double bytes = 0;  // of all sends
  // Of the sends, at least so many are not on their way at any time: they follow from others.
  double at_rest = 0;
};
CollectiveCounts count_collective(const Cluster& cluster, const CollectiveCall& call);
// Of each count the larger.
CollectiveCounts most_of(const CollectiveCounts& a, const CollectiveCounts& b);

const char* name_of(CollectiveOp op);

}  // namespace weft
