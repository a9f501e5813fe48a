// When the runs of a model's pieces begin, from how long each piece takes by itself.
#pragma once

#include <vector>

#include "sim/engine/results.h"
#include "sim/models/fold.h"

namespace weft {

// When this operator of a run that began then has ended. `pieces`: one result each, with the exits
// of the piece.
SimTime end_of(const Before& before, const Folded& folded, const std::vector<RunResult>& pieces,
               SimTime start);

// When each run begins: when all that it waits for has ended. One entry a run.
std::vector<SimTime> starts_of(const Folded& folded, const std::vector<RunResult>& pieces);

// `joined`, and the blocks of runs that meet on a GPU: one, or a strand of it, could begin before
// an earlier one has ended that computes there. Simulated apart, neither would slow the other, and
// one would wait for all of the other. Lone transfers may lie beside a run.
Joined join_where_runs_meet(const Folded& folded, const std::vector<RunResult>& pieces,
                            const Cluster& cluster, Joined joined);

}  // namespace weft
