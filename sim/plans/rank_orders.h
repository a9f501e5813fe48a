// Orders of ranks: for rings the turn in which they are visited, for trees who is whose parent.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

using RankOrder = std::vector<std::uint32_t>;  // each rank once

RankOrder identity_order(std::uint32_t ranks);

enum class Wiring : std::uint8_t {
  all_pairs,  // a link from each rank to each other
  shared      // a switch, a torus: whatever is not made of links of pairs
};

// Rings that together load the links evenly, for channels to take in turn.
//   all_pairs  n prime: the n-1 shifts, every link once. 4: all six rings, every link twice. 8:
//              seven rings, every link once. Other n: the ways below, closed, where the links of
//              distance n/2 are used twice and the others once; or the shifts coprime to n, which
//              use the links of those distances once and leave the others idle, if they are more
//              than half of n.
//   shared     the ranks in their order; of a 2-D torus the caller numbers them in snake order
std::vector<RankOrder> rings(std::uint32_t ranks, Wiring wiring);

// Ways through all ranks of a node, for what comes from another node and goes on to a third one.
// Each rank begins one way and ends one.
//   all_pairs  even n: every link is in one way (the rows of Williams's Latin square, Australian J.
//              Scientific Research A 2, 1949). Odd n: half of the links are in two.
//   shared     the ranks in their order, from each of them
std::vector<RankOrder> ways_through(std::uint32_t ranks, Wiring wiring);

// The endpoints of a torus in a row of neighbours: the first dimension forth and back, while the
// others step on. Closed by one more link where the last size is even.
RankOrder snake_order(const std::vector<int>& sizes);

// In steps of about the golden section of their number, coprime to it, any few peers in a row are
// far and near, in all directions and dimensions of a torus. In steps of 1 they load one ring
// direction after another: an 8x8 torus then takes 18 % longer than its bound instead of 4 %.
std::uint32_t spreading_stride(std::uint32_t ranks);

// A tree over the ranks of several nodes.
struct RankTree {
  std::vector<std::uint32_t> parent;   // by rank; the root's is itself
  std::vector<std::uint32_t> upwards;  // all but the root, children before their parents
};

// A chain in each node along `way`, as NCCL's trees have it; the heads of the chains are a binary
// tree, in the order that the nodes are given in. Ranks are numbered node by node.
RankTree tree_of_chains(const RankOrder& nodes, const RankOrder& way);

// Two trees for two halves of the buffer, as NCCL's double binary tree: a rank that has children in
// one is a leaf of the other, but for rank 0 of an odd number, which has one child in each.
std::vector<RankOrder> tree_orders(std::uint32_t ranks);

// The parent of a position > 0 in the binary tree: of those in a row, odd ones are leaves, those
// divisible by 2 once are a level higher, and so on; 0 is the root. Depth ceil(log2 n), at most two
// children.
std::uint32_t tree_parent(std::uint32_t position, std::uint32_t ranks);

// The positions from the leaves up: a child stands before its parent; the root is not in it.
std::vector<std::uint32_t> tree_upwards(std::uint32_t ranks);

}  // namespace weft
