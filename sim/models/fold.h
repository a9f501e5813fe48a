// Repetition: blocks of a model that do the same, on GPUs that lie alike, are simulated once.
//
// A block is cut into pieces that share no link: tensor-parallel groups in nodes of their own, say.
// Pieces are alike if they are the same, operator by operator, but for the nodes they are on; those
// of several nodes, if the network from there on is as that from node 0 on. They then take the same
// time, run by themselves, and the model's time follows from which run waits for which operator of
// which other. Blocks whose runs meet on a GPU (gradients that outlast the layer that they are
// summed beside) can be joined, and are then simulated together. What this leaves out: sends
// between stages and the layers that they run beside do not slow one another; and a run begins when
// all of its GPUs may.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"

namespace weft {

struct Piece {
  ModelGraph graph;              // without blocks
  bool in_a_node = false;        // of its own, simulated without the others
  std::vector<OpId> exits = {};  // that other runs wait for, in rising order
};

// An operator of an earlier run's piece.
struct Before {
  std::uint32_t run = 0;
  OpId op;
  auto operator<=>(const Before&) const = default;
};

struct PieceRun {
  std::uint32_t piece = 0;
  std::uint32_t node = 0;  // the node that stands for node 0 of the piece
  BlockId block;           // the first of those that it is part of
  // What it waits for, by strand: operators of the piece that neither wait for one another nor
  // share a stream. A strand may begin before others; the run begins when all may.
  std::vector<std::vector<Before>> strands = {};
};

struct Folded {
  std::vector<Piece> pieces;
  std::vector<PieceRun> runs;  // in an order in which they can be run
};

// By block: it is simulated together with the block before it. Empty: none is.
using Joined = std::vector<bool>;

// A graph without blocks is one piece.
Folded fold(const ModelGraph& graph, const Cluster& cluster, const Joined& joined = {});

// The model as it stands: one piece, whatever its blocks are.
Folded unfolded(const ModelGraph& graph);

// What is added to a piece's GPUs to get those of a run of it.
std::uint32_t first_gpu(const PieceRun& run, const Cluster& cluster);

// GPUs of a piece, in rising order.
std::vector<std::uint32_t> gpus_of(const ModelGraph& graph);

// Which of its exits this operator is.
std::size_t exit_of(const Piece& piece, OpId op);

}  // namespace weft
