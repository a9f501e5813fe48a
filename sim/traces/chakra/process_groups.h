// Which ranks a process group is.
#pragma once

#include <string>

#include "sim/scenario/overlay.h"
#include "sim/traces/problems.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// A JSON file such as ASTRA-sim's: {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]}.
void read_group_file(const std::string& file, int ranks, TraceGroups& groups,
                     TraceProblems& problems, std::vector<InputFile>& inputs);

// The list that PyTorch's recorder puts into a node's inputs. Groups already known stay as they
// are; a group that lists no ranks is all of them. What cannot be read is left out: a collective
// of that group is a problem then.
void take_listed_groups(const std::string& inputs, int ranks, TraceGroups& groups);

}  // namespace weft
