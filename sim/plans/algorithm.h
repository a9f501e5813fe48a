// How an algorithm of collectives is described: its plans, their counts without making them, and
// how it loads the links. Each algorithm is described in a file of its own; algorithms.h has the
// table of all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/plans/algorithms.h"
#include "sim/plans/collective_plan.h"

namespace weft {

// The collective that is planned, and how its ranks lie.
struct PlanRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t planned = 0;       // of a ring: the first ranks, which stand for all; 0: all
  std::uint32_t per_node = 1;      // numbered consecutively; 1 where nodes have different numbers
  std::uint32_t nics = 0;          // per node
  bool link_of_each_pair = false;  // of a node's GPUs
  bool in_a_grid = false;          // a node's GPUs: neighbours are connected
  bool switch_adds = false;        // a node's switch can add up and copy
  std::vector<int> grid = {};      // sizes of the grid that the ranks fill, if they do
  std::uint32_t root = 0;          // of a broadcast; the sender of a point to point ...
  std::uint32_t target = 1;        // ... to this one
  std::span<const std::int64_t> pair_bytes = {};  // uneven all-to-all: as in Plan

  [[nodiscard]] std::uint32_t nodes() const { return ranks / per_node; }
  [[nodiscard]] bool one_node() const { return per_node == ranks; }
};

// How chunks of the buffer go through the steps of a plan.
enum class Flow : std::uint8_t {
  chunk_by_chunk,  // a channel does all steps of one chunk, then those of the next
  pipeline,        // one chunk follows another through all steps
  levels           // one chunk follows another through phases over different links
};

// Counts that describe an algorithm's plans.
struct PlanCounts {
  std::int64_t plans = 1;
  std::int64_t blocks = 1;
  std::int64_t transfers = 0;     // of one plan
  std::int64_t busiest_rank = 0;  // transfers and final receives of the rank with the most
  std::int64_t steps = 1;
  double sent = 0;            // by all ranks together, where 1 is the buffer
  std::int64_t cut_into = 0;  // parts, of which the largest step moves one; 0: as `blocks`
  double posted = 0;  // messages per chunk that a channel of the busiest GPU posts at its NIC
  Flow flow = Flow::chunk_by_chunk;
  // Whether a rank sends on what has arrived before it expects the next: of a chunk, it never has
  // more than one transfer more sent than taken in.
  bool one_ahead = false;
};

// How an algorithm loads the links, where 1 is the buffer: bytes over the busiest link of a node
// and through the busiest NIC; and how it loads the busiest rank's channels: bytes in or out, and
// bytes that come in while nothing, or less, goes out, so that its links are idle.
struct Loads {
  double inside = 0;
  double between = 0;
  double channels = 0;
  double only_in = 0;
  double steps_inside = 0;
  double steps_between = 0;
  double senders = 1;  // fraction of a node's ranks that send to other nodes at the same time
};

Loads& operator+=(Loads& a, const Loads& b);
Loads times(Loads loads, double factor);

// What a library's own cost model counts: steps, and bytes of the busiest rank (1 is the buffer).
struct CountedByLibrary {
  double carried = 0;
  double steps = 0;
};
CountedByLibrary counted_in_turn(CollectiveOp op, double ranks);  // as for a ring

// How many chunks a rank's channel may be ahead in a phase, compared to the next phase.
enum class Ahead : std::uint8_t {
  none,     // there is only one direction to fill
  one,      // phases use different links or directions
  by_depth  // in a tree: the more, the further a rank is from the root
};

constexpr bool always(const PlanRequest& /*request*/) { return true; }

// The defaults are those of most algorithms.
struct AlgorithmSpec {
  CollectiveOps one_step = {};  // all data is there from the start, nobody waits for anybody
  bool sends_whole = false;     // in one step: its whole buffer to each rank
  bool lands_in_place = false;  // what is not sent on costs the receiver nothing
  Ahead ahead = Ahead::none;
  bool slices = false;             // it sends several slices before it receives the next
  bool ll_by_block = false;        // by `ll` a channel's least bytes hold per block, not in all
  double copied = 0;               // how often a channel copies its part; 0: once in every phase
  bool flags_in_libraries = true;  // libraries' may go by protocols with flags in the data
  bool (*possible)(const PlanRequest& request) = always;
  bool (*worth_trying)(const PlanRequest& request) = always;  // where the fastest is asked for
  bool (*in_libraries)(const PlanRequest& request) = always;  // in those that have it at all
  // One or several plans of the same steps over different rings or trees; channels take them in
  // turn. None where switches carry it.
  std::vector<Plan> (*plans)(const PlanRequest& request) = nullptr;
  PlanCounts (*counts)(const PlanRequest& request) = nullptr;
  Loads (*loads)(const PlanRequest& request) = nullptr;
  CountedByLibrary (*by_library)(CollectiveOp op, double ranks) = counted_in_turn;
};

inline const AlgorithmSpec& spec_of(Algorithm algorithm) { return *row_of(algorithm).spec; }

}  // namespace weft
