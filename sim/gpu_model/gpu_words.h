// The words of collectives, as files and reports say them.
#pragma once

#include <array>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/spec/words.h"

namespace weft::names {

inline constexpr std::array kAlgorithms = {
    Choice<Algorithm>{
        "direct", Algorithm::direct,
        "each rank to every other, all concurrently; an all-reduce first reduces, then gathers"},
    Choice<Algorithm>{"one_shot", Algorithm::one_shot,
                      "each rank sends its whole buffer to every other, and all sum"},
    Choice<Algorithm>{"ring", Algorithm::ring, "from neighbour to neighbour"},
    Choice<Algorithm>{"tree", Algorithm::tree,
                      "up and down two trees, each with half of the buffer"},
    Choice<Algorithm>{"halving_doubling", Algorithm::halving_doubling,
                      "between pairs, with half or twice as much each step"},
    Choice<Algorithm>{"hierarchical", Algorithm::hierarchical,
                      "within nodes, then between them, then within again"},
    Choice<Algorithm>{"in_switch", Algorithm::in_switch,
                      "the node's switch reduces and multicasts"},
    Choice<Algorithm>{"in_switch_tree", Algorithm::in_switch_tree,
                      "each node's switch reduces and multicasts; trees between nodes"},
};
inline constexpr std::array kProtocolWords = {
    Choice<Protocol>{"ll", Protocol::ll, "a flag of 8 B with every 8 B"},
    Choice<Protocol>{"ll128", Protocol::ll128, "a flag of 8 B with every 120 B"},
    Choice<Protocol>{"simple", Protocol::simple, "a fence, then a flag"},
};

}  // namespace weft::names
