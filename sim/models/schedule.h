// When the runs of a model's pieces begin, from how long each piece takes by itself.
#pragma once

#include <vector>

#include "sim/engine/results.h"
#include "sim/models/fold.h"

namespace weft {

// When this operator ends, if its run begins at `start`. `pieces`: one result per piece, which has
// the ends of the piece's exits.
SimTime end_of(const Before& before, const Folded& folded, const std::vector<RunResult>& pieces,
               SimTime start);

// When each run begins: as soon as all that it waits for has ended. One entry per run.
std::vector<SimTime> starts_of(const Folded& folded, const std::vector<RunResult>& pieces);

// Adds to `joined` the blocks of runs that meet on a GPU: a run, or a strand of it, could begin
// before an earlier run that computes there has ended. Simulated separately, neither would slow the
// other, and one would wait for all of the other. A lone transfer may overlap a run.
Joined join_where_runs_meet(const Folded& folded, const std::vector<RunResult>& pieces,
                            const Cluster& cluster, Joined joined);

}  // namespace weft
