// Repetition: blocks of a model that do the same, on GPUs that lie alike, are simulated once.
//
// A block is cut into pieces that share no link: tensor-parallel groups in nodes of their own, say.
// Pieces are alike if they are the same, operator by operator, but for the nodes they are on; those
// of several nodes, if the network from there on is as that from node 0 on. They then take the same
// time, run by themselves, and the model's time follows from which run waits for which. What this
// leaves out: runs that meet on a GPU or a link while both are under way (sends between stages
// beside a layer) do not slow one another; and a run begins when all of its GPUs may.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"

namespace weft {

struct Piece {
  ModelGraph graph;        // without blocks
  bool in_a_node = false;  // of its own, simulated without the others
};

struct PieceRun {
  std::uint32_t piece = 0;
  std::uint32_t node = 0;            // the node that stands for node 0 of the piece
  std::vector<std::uint32_t> after;  // earlier runs
};

struct Folded {
  std::vector<Piece> pieces;
  std::vector<PieceRun> runs;  // in an order in which they can be run
};

// A graph without blocks is one piece.
Folded fold(const ModelGraph& graph, const Cluster& cluster);

// The model as it stands: one piece, whatever its blocks are.
Folded unfolded(const ModelGraph& graph);

// What is added to a piece's GPUs to get those of a run of it.
std::uint32_t first_gpu(const PieceRun& run, const Cluster& cluster);

// GPUs of a piece, in rising order.
std::vector<std::uint32_t> gpus_of(const ModelGraph& graph);

}  // namespace weft
