// When the runs of a model's pieces begin, from the first to the last: when one begins, and which
// of its operators can begin later than the first, follows from the results of earlier ones.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim/engine/results.h"
#include "sim/models/fold.h"
#include "sim/models/lower_model.h"
#include "sim/models/pace.h"

namespace weft {

// A piece, and which of its operators are released later than the first ones.
struct TimedPiece {
  std::uint32_t piece = 0;
  std::vector<Release> releases = {};  // in ascending order of operators
  auto operator<=>(const TimedPiece&) const = default;
};

// Runs of one piece whose operators are released at the same times are simulated once.
class Timetable {
 public:
  // `folded` must outlive it.
  explicit Timetable(const Folded& folded);

  // `results`: of all timed pieces given so far, in their order, with the ends of the pieces'
  // exits. Returns those to be simulated next; none: the starts of all runs are known.
  std::vector<TimedPiece> next(const std::vector<RunResult>& results);

  // Times all runs again, with other things beside each of them (beside.h). `roughly`: runs of
  // joined blocks do what they did the last time, whenever their operators are released now; then
  // nothing is to be simulated.
  void again(std::vector<std::vector<Beside>> beside, bool roughly);

  // Runs of the timed pieces, in the order in which these were given, with their starts. Refers to
  // the pieces of `folded`.
  [[nodiscard]] Folded timed() const;

  // The piece of `folded` that a timed piece is.
  [[nodiscard]] std::uint32_t piece_of(std::uint32_t timed) const { return pieces_[timed].piece; }

 private:
  std::uint32_t add(TimedPiece piece);
  void add_run(std::uint32_t run, const std::vector<RunResult>& results);
  [[nodiscard]] std::optional<SimTime> release(const Entrance& entrance,
                                               const std::vector<RunResult>& results) const;

  const Folded& folded_;
  std::vector<TimedPiece> pieces_;  // given or to be given
  std::map<TimedPiece, std::uint32_t> known_;
  std::vector<std::optional<SimTime>> starts_;  // by run
  std::vector<std::uint32_t> piece_of_;         // the same: in pieces_
  std::vector<Pace> paces_;                     // the same
  std::vector<std::vector<Beside>> beside_;     // the same
  bool roughly_ = false;
};

// When this operator ends. `pieces`: one result per piece, which has the ends of the piece's exits.
SimTime end_of(const Before& before, const Folded& timed, const std::vector<RunResult>& pieces);

// Adds to `joined` the blocks of runs that meet on a GPU: a run could begin before an earlier run
// that computes there has ended. Simulated separately, neither would slow the other. A lone
// transfer may overlap a run.
Joined join_where_runs_meet(const Folded& timed, const std::vector<RunResult>& pieces,
                            const Cluster& cluster, Joined joined);

// `more`, in which blocks that are joined with others than in `joined` take so many further ones on
// either side.
Joined join_around(const Joined& joined, const Joined& more, std::size_t further);

}  // namespace weft
