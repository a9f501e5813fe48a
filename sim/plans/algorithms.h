// Algorithms of collectives, one row each. Code that depends on how they differ reads their rows,
// here, or their descriptions (algorithm.h); only an algorithm's own file, and code that is about
// this algorithm (a library's own table), names it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/plans/collective_op.h"

namespace weft {

enum class Algorithm : std::uint8_t {
  direct,
  one_shot,
  ring,
  tree,
  halving_doubling,
  hierarchical,
  in_switch,
  in_switch_tree
};

// What carries a collective. Switches add up whole pieces: no flags in the data.
enum class Carrier : std::uint8_t {
  plan,             // ranks, which send to one another according to a plan
  one_switch,       // the switch of the ranks' node
  several_switches  // the switches of the ranks' nodes, and ranks between nodes
};

struct AlgorithmSpec;  // algorithm.h

namespace algorithms {
extern const AlgorithmSpec direct;
extern const AlgorithmSpec one_shot;
extern const AlgorithmSpec ring;
extern const AlgorithmSpec tree;
extern const AlgorithmSpec halving_doubling;
extern const AlgorithmSpec hierarchical;
extern const AlgorithmSpec in_switch;
extern const AlgorithmSpec in_switch_tree;
}  // namespace algorithms

struct AlgorithmRow {
  Algorithm algorithm;
  const char* name;
  const char* meaning;
  CollectiveOps collectives;  // that it does
  const AlgorithmSpec* spec;
  Carrier carrier = Carrier::plan;
  const char* costs = "";  // what the library's own cost model has for it; empty: nothing
};

// In the order in which they are listed and tried.
inline constexpr auto kAlgorithmRows = std::to_array<AlgorithmRow>({
    {.algorithm = Algorithm::direct,
     .name = "direct",
     .meaning =
         "each rank to every other, all concurrently; an all-reduce first reduces, then gathers",
     .collectives = {CollectiveOp::all_to_all, CollectiveOp::all_gather,
                     CollectiveOp::reduce_scatter, CollectiveOp::all_reduce,
                     CollectiveOp::broadcast, CollectiveOp::point_to_point},
     .spec = &algorithms::direct},
    {.algorithm = Algorithm::one_shot,
     .name = "one_shot",
     .meaning = "each rank sends its whole buffer to every other, and all sum",
     .collectives = {CollectiveOp::all_reduce},
     .spec = &algorithms::one_shot},
    {.algorithm = Algorithm::ring,
     .name = "ring",
     .meaning = "from neighbour to neighbour",
     .collectives = {CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                     CollectiveOp::all_reduce, CollectiveOp::broadcast},
     .spec = &algorithms::ring,
     .costs = "this algorithm within a node"},
    {.algorithm = Algorithm::tree,
     .name = "tree",
     .meaning = "up and down two trees, each with half of the buffer",
     .collectives = {CollectiveOp::all_reduce, CollectiveOp::broadcast},
     .spec = &algorithms::tree,
     .costs = "this algorithm within a node"},
    {.algorithm = Algorithm::halving_doubling,
     .name = "halving_doubling",
     .meaning = "between pairs, with half or twice as much each step",
     .collectives = {CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                     CollectiveOp::all_reduce},
     .spec = &algorithms::halving_doubling},
    {.algorithm = Algorithm::hierarchical,
     .name = "hierarchical",
     .meaning = "within nodes, then between them, then within again",
     .collectives = {CollectiveOp::all_reduce},
     .spec = &algorithms::hierarchical},
    {.algorithm = Algorithm::in_switch,
     .name = "in_switch",
     .meaning = "the node's switch reduces and multicasts",
     .collectives = {CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                     CollectiveOp::all_reduce, CollectiveOp::broadcast},
     .spec = &algorithms::in_switch,
     .carrier = Carrier::one_switch,
     .costs = "this algorithm within a node"},
    {.algorithm = Algorithm::in_switch_tree,
     .name = "in_switch_tree",
     .meaning = "each node's switch reduces and multicasts; trees between nodes",
     .collectives = {CollectiveOp::all_reduce},
     .spec = &algorithms::in_switch_tree,
     .carrier = Carrier::several_switches,
     .costs = "this algorithm between nodes: its step is a hop's time besides NIC and links"},
});

// Rows are in the order of the enumeration.
constexpr const AlgorithmRow& row_of(Algorithm algorithm) {
  return kAlgorithmRows[static_cast<std::size_t>(algorithm)];
}
constexpr bool algorithms_are_in_order() {
  for (std::size_t i = 0; i < kAlgorithmRows.size(); ++i) {
    if (static_cast<std::size_t>(kAlgorithmRows[i].algorithm) != i) return false;
  }
  return true;
}
static_assert(algorithms_are_in_order());

// Whether there is such an algorithm for this collective (docs/model.md, "Collective kernels").
constexpr bool exists(CollectiveOp op, Algorithm algorithm) {
  return row_of(algorithm).collectives.has(op);
}

constexpr bool by_switches(Algorithm algorithm) {
  return row_of(algorithm).carrier != Carrier::plan;
}

}  // namespace weft
