// Lone transfers (sums of gradients in blocks of their own, sends of a pipeline) and what computes
// beside them, which slow one another: they share CUs, HBM and links. Each distinct pair of them is
// simulated together once; runs then go as fast as what lies beside them at the time leaves them
// (pace.h).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/engine/results.h"
#include "sim/models/fold.h"
#include "sim/models/lower_model.h"
#include "sim/models/pace.h"

namespace weft {

// A piece of a pair, so many nodes behind the first.
struct PlacedPiece {
  std::uint32_t piece = 0;
  std::uint32_t node = 0;
  auto operator<=>(const PlacedPiece&) const = default;
};

// A transfer and the pieces of one block that compute on its GPUs, by content: which pieces these
// are and how they lie to one another.
struct PairBeside {
  PlacedPiece transfer;
  std::vector<PlacedPiece> computing;  // in ascending order
  auto operator<=>(const PairBeside&) const = default;
};

// How much slower they are beside one another.
struct MutualSlowdown {
  Slowdown transfer = kAsAlone;
  std::vector<Slowdown> computing;  // by PairBeside::computing
};

// A run of a transfer and the runs of a block that lie beside it.
struct Neighbours {
  PairBeside pair;
  std::uint32_t transfer = 0;            // run
  std::vector<std::uint32_t> computing;  // runs, by PairBeside::computing
};

// All of them in a timetable. Joined runs are left out: what slows these was joined with them.
std::vector<Neighbours> neighbours_in(const Folded& timed, const std::vector<RunResult>& pieces,
                                      const Cluster& cluster);

// A pair as one graph: both begin at the same time, and what is shorter alone comes again until it
// would last as long as the other. Of the transfer only what is on GPUs of the others.
class PairGraph {
 public:
  enum class Of : std::uint8_t { both, transfer, computing };

  // `alone`: results of all pieces by themselves.
  PairGraph(const PairBeside& pair, const std::vector<Piece>& pieces,
            const std::vector<RunResult>& alone, const Cluster& cluster, Of of);

  [[nodiscard]] const ModelGraph& graph() const { return graph_; }
  [[nodiscard]] bool in_a_node() const { return in_a_node_; }
  [[nodiscard]] bool repeats_what_computes() const { return repeats_.computing > 1; }
  // Operators whose ends are asked for, in ascending order.
  [[nodiscard]] std::vector<OpId> exits() const;

  // A piece of computing ones in it, whose first operator is the graph's operator `first`.
  struct Part {
    std::uint32_t piece = 0;
    std::uint32_t first = 0;
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  // When all of the transfer, or of the computing ones each, has ended.
  struct Ends {
    Duration transfer;
    std::vector<Duration> computing;  // by PairBeside::computing
  };
  // From what it does, with those exits.
  [[nodiscard]] Ends ends(const RunResult& result) const;

 private:
  using Last = std::vector<OpId>;  // operators that nothing of the same piece follows
  Last add(const ModelGraph& piece, std::uint32_t times, std::uint32_t shift);
  Last append(const ModelGraph& piece, std::uint32_t shift, const Last& after);

  struct Repeats {
    std::uint32_t transfer = 1;
    std::uint32_t computing = 1;
  };
  ModelGraph graph_;
  bool in_a_node_ = true;
  Repeats repeats_;
  std::vector<Part> parts_;
  Last transfer_;
  std::vector<Last> computing_;
};

// From when they end, together and each by itself.
MutualSlowdown slowdown_from(const PairGraph::Ends& together, const PairGraph::Ends& alone);

// By run of the timetable, what is beside it and when.
std::vector<std::vector<Beside>> beside_runs(const Folded& timed,
                                             const std::vector<RunResult>& pieces,
                                             const std::vector<Neighbours>& neighbours,
                                             const std::map<PairBeside, MutualSlowdown>& slowdowns,
                                             const Cluster& cluster);

// When a run's last kernel ends.
SimTime end_of(const PieceRun& run, const std::vector<RunResult>& pieces);

}  // namespace weft
