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
//   seven
//              rings, every link once. Other n: the shifts coprime to n, which use the links of
//              those distances once and leave the others idle.
//   shared     the ranks in their order; of a 2-D torus the caller numbers them in snake order
std::vector<RankOrder> rings(std::uint32_t ranks, Wiring wiring);

// The endpoints of a torus in a row of neighbours: the first dimension forth and back, while the
// others step on. Closed by one more link where the last size is even.
RankOrder snake_order(const std::vector<int>& sizes);

// In steps of about the golden section of their number, coprime to it, any few peers in a row are
// far and near, in all directions and dimensions of a torus. In steps of 1 they load one ring
// direction after another: an 8x8 torus then takes 18 % longer than its bound instead of 4 %.
std::uint32_t spreading_stride(std::uint32_t ranks);

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
