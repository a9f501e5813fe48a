// Lone transfers (sums of gradients in blocks of their own, sends of a pipeline) and what computes
// beside them, which slow one another: they share CUs, HBM and links. So do two transfers on
// streams of their own; the longer is then the transfer, and "computing" what the other does. Each
// distinct pair of them is simulated together once; runs then go as fast as what lies beside them
// at the time leaves them (pace.h).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/engine/results.h"
#include "sim/models/fold.h"
#include "sim/models/lower_model.h"
#include "sim/models/pace.h"

namespace weft {

// A piece of a pair, so many nodes behind the first.
struct PlacedPiece {
  std::uint32_t piece = 0;
  // Modulo 2^32: GPUs of a piece that is not in a node have the cluster's numbers, so where nodes
  // are counted from a later one than its 0, this is below 0. Times the GPUs of a node and added to
  // such a number, it wraps back.
  std::uint32_t node = 0;
  auto operator<=>(const PlacedPiece&) const = default;
};

// A transfer and the pieces of one block that compute on its GPUs, by content: which pieces these
// are and how they lie to one another. Of alike ones, copies of one another, one stands for all:
// what is slowest on a transfer's way holds all of it, and the others are as slow.
struct PairBeside {
  PlacedPiece transfer;
  std::vector<PlacedPiece> computing;
  // The transfer begins with the others, as sends of what the block before has made do. Else the
  // shorter one is beside any part of the longer.
  bool together = false;
  auto operator<=>(const PairBeside&) const = default;
};

// How much slower they are beside one another.
struct MutualSlowdown {
  Slowdown transfer = kAsAlone;
  std::vector<Slowdown> computing;  // by PairBeside::computing
};

// A run of a transfer and the runs of a block that lie beside it.
struct Neighbours {
  struct Computing {
    std::uint32_t run = 0;
    std::uint32_t stands_for_it = 0;  // in PairBeside::computing
  };
  PairBeside pair;
  std::uint32_t transfer = 0;  // run
  std::vector<Computing> computing;
};

// By operator of a transfer, its groups that have one of these GPUs: `gpus` of the cluster, of
// which the piece's GPU 0 is the one with number `shift`. In the piece's numbers.
std::vector<Groups> groups_on(const ModelGraph& transfer, std::uint32_t shift,
                              const std::vector<bool>& gpus);

// By GPU, until when a transfer that this is the result of is there: until it has ended on this GPU
// and on those of its groups that do nothing else in it. What is sent is on its way until it has
// come, and slows what the sender computes meanwhile.
std::vector<SimTime> ends_on_gpus(const ModelGraph& transfer, const RunResult& alone);

// That part of a transfer.
ModelGraph part_on(const ModelGraph& transfer, std::uint32_t shift, const std::vector<bool>& gpus);

// Finds what lies beside one another in timetables of the same pieces, whose results these are. All
// must outlive it.
class FindNeighbours {
 public:
  FindNeighbours(const std::vector<Piece>& pieces, const std::vector<RunResult>& results,
                 const Cluster& cluster);

  // Joined runs are left out: what slows these was joined with them. Transfers beside one another
  // are given as a run of the longer and, as the computing one, of the other.
  std::vector<Neighbours> in(const std::vector<PieceRun>& runs);

  // By run, what is beside it and when.
  [[nodiscard]] std::vector<std::vector<Beside>> beside_runs(
      const std::vector<PieceRun>& runs, const std::vector<Neighbours>& neighbours,
      const std::map<PairBeside, MutualSlowdown>& slowdowns) const;

 private:
  struct Span {  // in which a run computes
    SimTime start;
    SimTime end;
    std::uint32_t run = 0;
  };
  struct Spans {
    std::vector<std::vector<Span>> on_gpu;  // in the order of their ends
    std::map<BlockId, std::vector<std::uint32_t>> of_block;
  };
  [[nodiscard]] Spans spans_of(const std::vector<PieceRun>& runs) const;
  [[nodiscard]] std::set<BlockId> blocks_beside(const PieceRun& transfer,
                                                const std::vector<PieceRun>& runs,
                                                const Spans& spans) const;
  void add(std::uint32_t transfer, const std::vector<std::uint32_t>& of_block,
           const std::vector<PieceRun>& runs, std::vector<Neighbours>& all);
  [[nodiscard]] Neighbours neighbours(std::uint32_t transfer, std::vector<std::uint32_t> computing,
                                      const std::vector<PieceRun>& runs);

  // What a pair is for these pieces, and which of its computing ones each of them is.
  struct Pair {
    PairBeside pair;
    std::vector<std::uint32_t> stands_for;
  };
  [[nodiscard]] bool begin_together(const PieceRun& transfer,
                                    const std::vector<std::uint32_t>& computing,
                                    const std::vector<PieceRun>& runs) const;
  [[nodiscard]] Pair pair_of(const PlacedPiece& transfer, const std::vector<PlacedPiece>& all);
  [[nodiscard]] PairBeside known_pair(const PlacedPiece& transfer,
                                      const std::vector<PlacedPiece>& computing);
  [[nodiscard]] bool is_sound(const PlacedPiece& placed) const;

  // GPUs that a run has of a transfer's, in the cluster's numbers.
  [[nodiscard]] std::vector<std::uint32_t> shared(const PieceRun& transfer,
                                                  const PieceRun& run) const;
  // When a transfer has ended on one GPU of its piece.
  [[nodiscard]] SimTime end_on(std::uint32_t gpu, const PieceRun& transfer) const;
  // What a transfer that shares these GPUs with a run is to it.
  [[nodiscard]] Beside beside(const PieceRun& run, const PieceRun& transfer,
                              const std::vector<std::uint32_t>& gpus, Slowdown slowdown) const;

  // What tells pieces apart wherever they are: in `shape` what they do and how their GPUs lie to
  // the first of them.
  struct Content {
    std::uint32_t does = 0;
    std::uint32_t shape = 0;
    std::uint32_t first_gpu = 0;
  };
  void find_contents();
  [[nodiscard]] std::uint32_t per_node() const {
    return static_cast<std::uint32_t>(cluster_.spec.gpus_per_node);
  }

  const std::vector<Piece>& pieces_;
  const std::vector<RunResult>& results_;
  const Cluster& cluster_;
  std::vector<std::vector<std::uint32_t>> computes_on_;  // by piece
  std::vector<std::vector<std::uint32_t>> all_;          // the same
  std::vector<std::vector<SimTime>> ends_;               // the same, of a transfer, by GPU
  std::vector<Content> contents_;                        // the same
  std::map<std::pair<PlacedPiece, std::vector<PlacedPiece>>, Pair> pairs_;
  // Operators of a transfer, its groups by operator, shapes and first GPUs of the computing ones,
  // and where all is if it can be nowhere else.
  using Key = std::tuple<std::uint32_t, std::vector<std::vector<std::vector<std::uint32_t>>>,
                         std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::uint32_t>;
  std::map<Key, PairBeside> known_;  // the first with this content stands for all
};

// What slows a run on some of its GPUs slows all of it: at each moment the GPU that loses most
// counts, and of what lies beside it there the sum.
std::vector<Beside> most_on_a_gpu(const std::map<std::uint32_t, std::vector<Beside>>& on_gpu);

// A pair as one graph: both begin at the same time, and unless they do that in the timetable, too,
// what is shorter alone comes again until it would last as long as the other. Of the transfer only
// what is on GPUs of the others; of computing pieces that last longer only what begins while it is
// there (beginning.h).
class PairGraph {
 public:
  enum class Of : std::uint8_t { both, transfer, computing };
  enum class Computing : std::uint8_t { beginning, whole };

  // `alone`: results of all pieces by themselves.
  PairGraph(const PairBeside& pair, const std::vector<Piece>& pieces,
            const std::vector<RunResult>& alone, const Cluster& cluster, Of of,
            Computing computing = Computing::beginning);

  [[nodiscard]] const ModelGraph& graph() const { return graph_; }
  [[nodiscard]] bool in_a_node() const { return in_a_node_; }
  // How many are in it, those that come again as often as they come.
  [[nodiscard]] std::int64_t pieces() const;
  // Operators whose ends are asked for, in ascending order.
  [[nodiscard]] std::vector<OpId> exits() const;

  // A piece of computing ones in it, whose first operator is the graph's operator `first`, and how
  // many of its operators.
  struct Part {
    std::uint32_t piece = 0;
    std::uint32_t first = 0;
    std::uint32_t operators = 0;
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  // When all of the transfer, or of the computing ones each, has ended.
  struct Ends {
    Duration transfer;
    std::vector<Duration> computing;  // by PairBeside::computing
  };
  // From what it does, with those exits.
  [[nodiscard]] Ends ends(const RunResult& result) const;
  // Whether these ends of both tell what there is to know: what was left out of a piece would have
  // begun after the transfer has ended.
  [[nodiscard]] bool is_enough(const Ends& ends) const;
  // The same where a graph of one of both is what is known of it alone; none: it has to be
  // simulated.
  [[nodiscard]] std::optional<Ends> ends_alone(const std::vector<RunResult>& alone) const;

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
  Of of_;
  Repeats repeats_;
  std::vector<Part> parts_;
  std::uint32_t transfer_piece_ = 0;
  bool whole_transfer_ = false;  // all of its groups are on GPUs of the others
  bool whole_computing_ = true;  // all of their operators
  Last transfer_;
  std::vector<Last> computing_;
};

// From when they end, together and each by itself.
MutualSlowdown slowdown_from(const PairGraph::Ends& together, const PairGraph::Ends& alone);

// When a run's last kernel ends.
SimTime end_of(const PieceRun& run, const std::vector<RunResult>& pieces);

}  // namespace weft
