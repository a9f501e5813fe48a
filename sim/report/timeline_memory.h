// Memory that a timeline takes in addition to the run, bounded before the run begins.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/engine/recording.h"

namespace weft {

// How busy GPUs and links are: the intervals of one recording on this cluster.
Bytes tracks_memory(const Cluster& cluster, Detail detail);

// The longest timeline of all modes whose records, text and sort order fit into this memory.
Bytes longest_timeline_in(Bytes memory);

}  // namespace weft
