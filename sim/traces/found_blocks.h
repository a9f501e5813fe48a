// What recurs in a graph whose operators do not say it: traces of others than weft, and graphs that
// were written without blocks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/rank_trace.h"

namespace weft {

struct FoundBlocks {
  ModelGraph graph;          // with blocks, or as it was
  std::size_t blocks = 0;    // that it has now
  std::size_t kinds = 0;     // so many differ in what they do
  std::size_t programs = 0;  // different ones that GPUs follow
  std::string obstacle;      // empty: found
};

// GPUs that do the same, one after another, and meet with the same others, follow one program. What
// its GPUs do with those of another (messages between stages of a pipeline) stands by itself; what
// lies between is cut where a part of it, of at least four operators, recurs at once. Numbers in
// names do not count: a layer's operators get the first one's names. Each block can run from start
// to end, and the same waits for the same as before.
//
// A GPU's operators follow one another as the nodes that they were made from (`made_from`, by
// operator) stand in its trace, if they can run so; else, or without these, as in the graph.
FoundBlocks find_blocks(ModelGraph&& graph, const std::vector<std::vector<NodeAt>>& made_from = {});

// The same of a trace, as one of what is said of it.
void find_blocks(MergedRanks& merged, TraceSummary& summary);
MadeFrom kept_for(const TraceWork& work);

// What is said of a graph with so many operators that looking for blocks may pay; else empty.
std::string without_blocks(const ModelGraph& graph);

}  // namespace weft
