// How much of a piece has to be simulated to know what slows its beginning: what begins later is
// later by as much as what it waits for, and as long as alone.
#pragma once

#include <cstdint>

#include "sim/engine/results.h"
#include "sim/models/model_graph.h"

namespace weft {

// So many of its first operators that all others wait for the next one, which by itself begins
// after `until` on every GPU; no pair of an operator and a collective is parted. All of them, where
// there is no such one.
std::uint32_t beginning_of(const ModelGraph& piece, const RunResult& alone, Duration until);

// These operators alone.
ModelGraph first_operators_of(const ModelGraph& piece, std::uint32_t operators);

}  // namespace weft
