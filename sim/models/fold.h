// Repetition: blocks of a model that do the same, on GPUs with equivalent positions in the cluster,
// are simulated once.
//
// A block is cut into pieces that share no link, such as tensor-parallel groups in nodes of their
// own. Pieces are alike if they are equal, operator by operator, except for the nodes they are on;
// pieces of several nodes, if in addition the network from their first node on equals that from
// node 0 on. Alike pieces, run by themselves, take the same time, and the model's time follows from
// which run waits for which operator of which other run. Blocks whose runs meet on a GPU (sums of
// gradients that outlast the layer concurrent with them) can be joined and are then simulated
// together. A lone transfer and what computes beside it, or another transfer, slow one another as
// much as when they are simulated together, which is done once for each distinct pair (beside.h).
// What this leaves out: what is beside joined blocks does not slow those, nor they it; and a run
// begins only when all of its GPUs are ready.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"
#include "sim/models/pace.h"

namespace weft {

struct Piece {
  ModelGraph part;                    // without blocks
  const ModelGraph* whole = nullptr;  // instead, where the model is one piece: it has to live on
  bool in_a_node = false;             // within one node, simulated without the others
  std::vector<OpId> exits = {};       // operators that other runs wait for, in ascending order
  // By operator, the first one of its strand: operators that wait for one another are in one
  // strand, and so are those on one stream of a GPU. Empty: the model is one piece.
  std::vector<std::uint32_t> strand_of = {};

  [[nodiscard]] const ModelGraph& graph() const { return whole != nullptr ? *whole : part; }
};

// An operator of an earlier run's piece.
struct Before {
  std::uint32_t run = 0;
  OpId op;
  auto operator<=>(const Before&) const = default;
};

// An operator of a piece, and what it waits for in earlier runs.
struct Entrance {
  OpId op;
  bool first = false;  // on some of its GPUs it waits for nothing of its own piece
  std::vector<Before> before = {};
  bool operator==(const Entrance&) const = default;
};

struct PieceRun {
  std::uint32_t piece = 0;
  std::uint32_t node = 0;  // the node that takes the role of the piece's node 0
  BlockId block;           // the first of those that it is part of
  bool joined = false;     // that block stands for several
  // Its operators that are first or wait for earlier runs, by strand, each in ascending order. At
  // least one is first.
  std::vector<std::vector<Entrance>> strands = {};
  SimTime start = {};  // of a timed run (schedule.h): when the first of these can begin
  Pace pace = {};      // the same: how fast it goes for what lies beside it
};

struct Folded {
  std::vector<Piece> pieces;
  std::vector<PieceRun> runs;  // in an order in which they can be run
};

// By block: whether it is simulated together with the block before it. Empty: none is.
using Joined = std::vector<bool>;

// A graph without blocks is one piece, which refers to it.
Folded fold(const ModelGraph& graph, const Cluster& cluster, const Joined& joined = {});
Folded fold(ModelGraph&&, const Cluster&, const Joined& = {}) = delete;

// The model as a single piece, whatever its blocks are. It refers to the model.
Folded unfolded(const ModelGraph& graph);
Folded unfolded(ModelGraph&&) = delete;

// What is added to the GPU numbers of a piece to get those of a run of it.
std::uint32_t first_gpu(const PieceRun& run, const Cluster& cluster);

// GPUs of a piece, in ascending order.
std::vector<std::uint32_t> gpus_of(const ModelGraph& graph);

// The index of this operator among the piece's exits.
std::size_t exit_of(const Piece& piece, OpId op);

}  // namespace weft
