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
  std::uint32_t transfer = 0;           // run
  std::vector<std::uint32_t> computing;  // runs, by PairBeside::computing
};

// All of them in a timetable. Joined runs are left out: what slows these was joined with them.
std::vector<Neighbours> neighbours_in(const Folded& timed, const std::vector<RunResult>& pieces,
                                 const Cluster& cluster);

// Both together: they begin at the same time, and what is shorter alone comes again until it would
// last as long as the other.
class PairTogether {
 public:
  // `alone`: results of all pieces by themselves.
  PairTogether(const PairBeside& pair, const std::vector<Piece>& pieces,
               const std::vector<RunResult>& alone, const Cluster& cluster);

  [[nodiscard]] const ModelGraph& graph() const { return graph_; }
  [[nodiscard]] bool in_a_node() const { return in_a_node_; }
  // Operators whose ends slowdown() needs, in ascending order.
  [[nodiscard]] std::vector<OpId> exits() const;

  // A piece in it: its first operator is the graph's operator `first`.
  struct Part {
    std::uint32_t piece = 0;
    std::uint32_t first = 0;
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  // From what it does, with those exits.
  [[nodiscard]] MutualSlowdown slowdown(const RunResult& together) const;

 private:
  struct Member {  // the transfer, or a piece that computes
    Duration alone;  // of all its repeats
    std::vector<OpId> last;  // operators of its last repeat that none of it follows
  };
  Member add(const PlacedPiece& placed, std::uint32_t times, const std::vector<Piece>& pieces,
             const std::vector<RunResult>& alone, const Cluster& cluster);
  std::vector<OpId> append(const ModelGraph& piece, std::uint32_t shift,
                           const std::vector<OpId>& after);
  [[nodiscard]] SimTime end_of(const Member& member, const RunResult& together) const;

  ModelGraph graph_;
  bool in_a_node_ = true;
  std::vector<Part> parts_;
  Member transfer_;
  std::vector<Member> computing_;
};

// By run of the timetable, what is beside it and when.
std::vector<std::vector<Beside>> beside_runs(
    const Folded& timed, const std::vector<RunResult>& pieces, const std::vector<Neighbours>& neighbours,
    const std::map<PairBeside, MutualSlowdown>& slowdowns);

// When a run's last kernel ends.
SimTime end_of(const PieceRun& run, const std::vector<RunResult>& pieces);

}  // namespace weft
