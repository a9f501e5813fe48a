// Plans of collectives: which rank sends which block to which rank, in what order. They have no
// times, channels, pieces or protocol: those come with the lowering, which runs a copy of a plan
// for each piece of the buffer.
//
//   Plan plan = all_reduce(Scheme::ring, identity_order(8));
//   Dependencies waits = dependencies(plan);   // what each transfer has to wait for
//
// The buffer of a call is cut into `blocks` equal parts. A place is one block at one rank. It holds
// a value, which transfers read, replace or add to. All that a plan promises:
//
//   - The order of `transfers` is an order in which they can happen: whatever a transfer needs
//     comes before it. So a plan in which each rank sends in plan order cannot deadlock.
//   - A transfer of `held` needs every earlier arrival at the places that it reads. Nothing else
//     has to be waited for: no arrival can come before its place was last read (otherwise the
//     algorithm would need a dependency; the tests execute plans in random orders to check this).
//   - A transfer of `own` sends what the rank put into the collective, whatever has arrived there
//     since. It needs nothing.
//
// Notation of the costs: n ranks, S bytes of buffer. Steps: the longest chain of transfers each of
// which needs the one before. Bytes: sent by the busiest rank, where 1 is S.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/plans/collective_op.h"
#include "sim/plans/rank_orders.h"

namespace weft {

// What a rank holds before and after. S is the larger of the two buffers:
//   all_to_all      S/n for each rank -> S/n from each rank
//   all_gather      block r, S/n      -> all blocks
//   reduce_scatter  S of its own      -> block r of the sum
//   all_reduce      S of its own      -> the sum
//   broadcast       S, at the root    -> S
//   point_to_point  S, at the root    -> S, at `target`
using Collective = CollectiveOp;

enum class Arrival : std::uint8_t { replaces, adds };
enum class Source : std::uint8_t { held, own };

// `blocks` blocks from `block` on, to the same places of another rank. In an all-to-all `block` is
// the sender's rank: the place where it arrives; at the sender it is the data for `to`. `to` may be
// beyond the plan's ranks: see Plan::ranks.
struct Transfer {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t block = 0;
  std::uint16_t blocks = 1;
  Arrival arrival = Arrival::replaces;
  Source source = Source::held;
  bool operator==(const Transfer&) const = default;
};
static_assert(sizeof(Transfer) == 16);

struct Plan {
  Collective collective = Collective::all_reduce;
  // Of a ring these may be the first ranks, which stand for all: what they send to a later rank
  // arrives at the one that stands for it, at a block that is as much earlier.
  std::uint32_t ranks = 0;
  std::uint32_t blocks = 1;
  std::uint32_t root = 0;    // of a broadcast; the sender of a point to point
  std::uint32_t target = 0;  // of a point to point
  // Direct: which peer comes first, so that plans that differ in it use different links at a time.
  std::uint32_t first_peer = 0;
  std::vector<Transfer> transfers{};
  // First transfer of each phase (reduce, gather ...). To keep a tree filled in both directions, a
  // lowering may begin a phase of one piece before later phases of earlier pieces: within a piece a
  // rank's transfers stay in order, and all ranks must interleave the pieces in the same way.
  std::vector<std::uint32_t> phases{};
  // Uneven all-to-all: bytes of each pair, [from * ranks + to]. Else empty: blocks are equal.
  std::vector<std::int64_t> pair_bytes{};
};

// ---- The algorithms. Groups of one rank: no transfers.

// ring:    each rank sends to the next in the order given; block r still belongs to rank r.
// direct:  each rank sends to all others, in spreading order (see spreading_stride).
// halving: with partners at distances that halve or double. Powers of two: rank XOR distance;
//          other numbers of ranks: rank +- distance, the last step with what is left over. A step
//          that wraps around the last block takes two transfers.
enum class Scheme : std::uint8_t { ring, direct, halving };

// Steps: ring n-1, direct 1, halving ceil(log2 n), of 2^k + 1 ranks k. Bytes: (n-1)/n.
// Halving needs the ranks in their natural order, because it sends runs of blocks.
Plan all_gather(Scheme scheme, const RankOrder& order);
Plan reduce_scatter(Scheme scheme, const RankOrder& order);

// Reduce-scatter, then all-gather. Steps: ring 2(n-1), direct 2, halving 2 log2 n. Bytes: 2(n-1)/n.
// Halving with p + e ranks, p a power of two: in each of the first e pairs, the second rank is
// folded into the first and gets the sum at the end. Steps 2 log2 p + 2, bytes 2(p-1)/p + 1.
Plan all_reduce(Scheme scheme, const RankOrder& order, std::uint32_t first_peer = 0);
// Each rank sends its whole buffer to every other, and each adds up for itself. Steps 1, bytes n-1.
Plan all_reduce_one_shot(std::uint32_t ranks);
// To the root of a tree and back. On a chain of n: steps 2(n-1), bytes 2: up once, down once.
Plan all_reduce_tree(const RankTree& tree);

// l ranks per node, m nodes, n = l m: reduce-scatter in every node, all-reduce of part i over the
// ranks of local index i of all nodes, all-gather in every node. Steps: the sum of the three.
// Bytes: 2(l-1)/l inside, 1/l of the all-reduce's 2(m-1)/m between.
struct Hierarchy {
  std::uint32_t ranks = 0;
  std::uint32_t ranks_per_node = 0;  // divides `ranks`; a node's ranks are consecutive
  Scheme inside = Scheme::direct;
  Scheme between = Scheme::ring;
  std::uint32_t first_peer = 0;  // as in Plan
};
Plan all_reduce_hierarchical(const Hierarchy& hierarchy);

// Steps 1, bytes (n-1)/n.
Plan all_to_all(std::uint32_t ranks);
// pair_bytes[from * ranks + to]; pairs without bytes have no transfer, nor does a rank with itself.
Plan all_to_all_uneven(std::uint32_t ranks, std::vector<std::int64_t> pair_bytes);

// The order is rotated so that the root comes first.
Plan broadcast_ring(const RankOrder& order, std::uint32_t root);  // steps n-1, bytes 1
Plan broadcast_tree(const RankOrder& order, std::uint32_t root);  // steps ceil(log2 n), bytes 2
Plan broadcast_direct(std::uint32_t ranks, std::uint32_t root);   // steps 1, bytes n-1
struct PointToPoint {
  std::uint32_t ranks = 2;
  std::uint32_t from = 0;
  std::uint32_t to = 1;
};
Plan point_to_point(const PointToPoint& pair);  // steps 1, bytes 1

// ---- What follows from a plan. Each function is linear in the blocks sent and in the places.

// Arrivals that are not sent on: an item of the receiver copies them or adds them up at the end.
struct FinalReceive {
  std::uint32_t rank = 0;
  std::uint32_t arrivals = 0;
  bool operator==(const FinalReceive&) const = default;
};

// Where the blocks of a transfer arrive, the first of them: [rank * blocks + block].
std::size_t place_of_arrival(const Plan& plan, const Transfer& transfer);

// Every arrival is received by one waiter: the first later transfer that sends any of it on, or a
// final receive. Waiters are numbered: transfers by their index, then the final receives. Later
// transfers of the same places need not wait again as long as a rank's transfers are issued in plan
// order; its final receives may come at its end. One latch per waiter, counted down by its
// arrivals, is all the synchronisation needed.
struct Dependencies {
  std::vector<std::uint32_t> taken_in_by;  // by transfer: the waiter, at the receiver
  std::vector<std::uint32_t> arrivals;     // by transfer: how many it waits for
  std::vector<FinalReceive> finals;        // in the order of their last arrivals
};
Dependencies dependencies(const Plan& plan);

// Longest chain of transfers each of which sends on something from the one before.
std::uint32_t steps(const Plan& plan);

// The transfers of each rank in plan order: transfers[first[r]] to transfers[first[r + 1] - 1].
struct Programs {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> transfers;
};
Programs programs(const Plan& plan);

// Bytes of a transfer. Where S does not divide evenly, blocks differ by one byte and sum up to S.
Bytes bytes_of(const Plan& plan, const Transfer& transfer, Bytes buffer);

struct RankBytes {
  Bytes sent;
  Bytes received;
};
std::vector<RankBytes> rank_bytes(const Plan& plan, Bytes buffer);

}  // namespace weft
