// What a timeline takes of memory beside the run that is recorded: bounded before the run begins.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/engine/recording.h"

namespace weft {

// How busy GPUs and links are: the intervals of one recording on this cluster.
Bytes tracks_memory(const Cluster& cluster, Detail detail);

// The longest timeline, of all modes, whose WGs and messages, text and order fit into so much.
Bytes longest_timeline_in(Bytes memory);

}  // namespace weft
