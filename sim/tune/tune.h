// Looks among the points of a sweep for the best, and simulates few of them. What it simulates lies
// in a folder as a sweep's points do: a search that was stopped, or killed, asks for the same ones
// again, and takes from there what is finished.
//
//   FOLDER/                results.jsonl and the tables of the points that were simulated
//   FOLDER/start/          the same of the scenario as it is, without a value of any axis
//   FOLDER/defaults/       the same of the scenario with the default of each key of an axis
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/observer.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/row.h"
#include "sim/sweep/sweep_options.h"
#include "sim/tune/objective.h"
#include "sim/tune/space.h"

namespace weft {

struct TuneOptions {
  SweepOptions sweep;
  Objectives objectives = {Objective{}};
  std::optional<SlurmOptions> slurm = {};  // points run there, but the start and the defaults
  std::size_t most_points = 200;           // simulated, those that cannot be run not counted
};

struct TuneCounts {
  std::size_t simulated = 0;
  std::size_t at_most = 0;
};
using OnTuneCounts = std::function<void(const TuneCounts&)>;  // from any thread

struct Tuned {
  std::vector<Row> rows;        // of the points that were tried, in the order of the plan
  std::optional<Row> start;     // none: the scenario as it is cannot be run
  std::optional<Row> defaults;  // none: it cannot be run, or is the scenario as it is
  bool lacks_column = false;    // known from the start: no point was tried
  std::string start_problems;   // why not
  Space::Values start_values;   // by axis; its size where the scenario has none of the values
  std::size_t simulated = 0;
  std::size_t cannot_run = 0;    // of those tried
  std::size_t beyond_bound = 0;  // not simulated, because their lower bound is above the best
  std::size_t untried = 0;
  std::optional<double> bound;  // of the first objective: no point that was not simulated can be
                                // better; none: not known
  bool was_stopped = false;     // interrupted(): what is known by then
  bool gave_up = false;         // some points were not finished on Slurm, which is said
};

Space space_of(const SweepPlan& plan);

// The plan without its axes: the scenario as it is.
SweepPlan without_axes(SweepPlan plan);
// The same with the defaults of the keys that axes change, whatever the scenario says of them; an
// axis whose keys have to be said stays as the scenario has it.
SweepPlan with_defaults(const SweepPlan& plan);
// By axis the value with which the scenario of this hash is the one that it is anyway.
Space::Values values_as_it_is(const SweepPlan& plan, const std::string& hash);
// The point that is as the scenario is, as far as the axes have its values; else the middle ones.
std::optional<std::size_t> point_as_it_is(const Space& space, Space::Values as_it_is);

// `plan` must outlive it. Throws Interrupted while the scenario as it is is being planned.
Tuned tune(const SweepPlan& plan, const TuneOptions& options, const SweepMessages& messages,
           const OnTuneCounts& on_counts);

}  // namespace weft
