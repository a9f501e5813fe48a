// Which ranks a process group has.
#pragma once

#include <string>

#include "sim/scenario/overlay.h"
#include "sim/traces/problems.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// Reads a JSON file such as ASTRA-sim's: {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]}.
void read_group_file(const std::string& file, int ranks, TraceGroups& groups,
                     TraceProblems& problems, std::vector<InputFile>& inputs);

// Takes the list that PyTorch's recorder puts into a node's inputs. Groups already known are kept;
// a group that lists no ranks has all of them. What cannot be read is left out: collectives of that
// group are then reported as problems.
void take_listed_groups(const std::string& inputs, int ranks, TraceGroups& groups);

}  // namespace weft
