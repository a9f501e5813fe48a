// Orders of ranks: for rings the order in which they are visited, for trees each rank's parent.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

using RankOrder = std::vector<std::uint32_t>;  // each rank once

RankOrder identity_order(std::uint32_t ranks);

enum class Wiring : std::uint8_t {
  all_pairs,  // a link from each rank to each other
  shared      // a switch, a torus: anything without a link of its own for each pair
};

// Rings that together load the links evenly, for channels to take in turn.
//   all_pairs  n prime: the n-1 shifts, every link once. 4: all six rings, every link twice. 8:
//              seven rings, every link once. Other n: the ways below, closed, where the links of
//              distance n/2 are used twice and the others once; or, if they are more than half of
//              n, the shifts coprime to n, which use the links of those distances once and leave
//              the others idle.
//   shared     the ranks in their order; in a 2-D torus the caller numbers them in snake order
std::vector<RankOrder> rings(std::uint32_t ranks, Wiring wiring);

// Ways through all ranks of a node, for what comes from another node and goes on to a third one.
// Each rank begins one way and ends one.
//   all_pairs  even n: every link is in one way (the rows of Williams's Latin square, Australian J.
//              Scientific Research A 2, 1949). Odd n: half of the links are in two.
//   shared     the ranks in their order, starting from each of them
std::vector<RankOrder> ways_through(std::uint32_t ranks, Wiring wiring);

// The endpoints of a torus as a path of neighbours: back and forth along the first dimension, while
// the others advance. Closed by one more link where the last size is even.
RankOrder snake_order(const std::vector<int>& sizes);

// With a stride near the golden section of the number of ranks, coprime to it, any few successive
// peers are far and near, in all directions and dimensions of a torus. With a stride of 1 they load
// one ring direction after another: an 8x8 torus then takes 18 % longer than its bound, not 4 %.
std::uint32_t spreading_stride(std::uint32_t ranks);

// A tree over the ranks of several nodes.
struct RankTree {
  std::vector<std::uint32_t> parent;   // by rank; the root's is itself
  std::vector<std::uint32_t> upwards;  // all except the root, children before their parents
};

// A chain in each node along `way`, as in NCCL's trees; the heads of the chains form a binary tree,
// with the nodes in the order given. Ranks are numbered node by node.
RankTree tree_of_chains(const RankOrder& nodes, const RankOrder& way);

// Two trees for two halves of the buffer, as in NCCL's double binary tree: a rank that has children
// in one is a leaf of the other, except rank 0 of an odd number, which has one child in each.
std::vector<RankOrder> tree_orders(std::uint32_t ranks);

// The parent of a position > 0 in the binary tree: odd positions are leaves, those divisible by 2
// only once are a level higher, and so on; 0 is the root. Depth ceil(log2 n), at most two children.
std::uint32_t tree_parent(std::uint32_t position, std::uint32_t ranks);

// The positions from the leaves up: a child comes before its parent; the root is left out.
std::vector<std::uint32_t> tree_upwards(std::uint32_t ranks);

}  // namespace weft
