// What a search has found: the best point, what is as good, what each knob is worth, and what time
// costs in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/plan.h"
#include "sim/tune/tune.h"

namespace weft {

// A point that was simulated.
struct Trial {
  const Row* row = nullptr;            // of Tuned
  Achieved achieved;                   // of the first objective
  std::vector<Achieved> besides;       // of the others
  std::optional<double> memory_bytes;  // of the fullest GPU, of whole models
};

// A knob's value, with all other knobs as in the best point.
struct KnobValue {
  std::string text;
  // untried: nothing that was simulated has the value, so there is no estimate.
  enum class Known { simulated, estimated, untried, cannot_be } known = Known::cannot_be;
  double longer = 0;  // cost / best's - 1
};

struct Knob {
  std::string name;                  // columns of its keys: "tile_m/tile_n"
  std::size_t best = 0;              // index of its value
  std::optional<std::size_t> start;  // the scenario's own; none: not among them
  std::vector<KnobValue> values;
};

// Two knobs that are not worth together what each is worth by itself.
struct KnobPair {
  std::size_t one = 0;
  std::size_t other = 0;
  double interaction = 0;  // largest |f(a,b) - f(a) - f(b) + f(best)| of log cost, estimated
};

struct Answer {
  std::vector<Trial> trials;  // all that were simulated, the best first
  std::size_t ties = 0;       // of those after the first: as good, within the given share
  std::optional<Trial> start;
  std::optional<Trial> defaults;  // none: cannot be run, or the start has no other
  std::vector<Knob> knobs;
  double estimate_error = 0;    // of values that are estimated: of their logarithm, points left out
  std::vector<KnobPair> pairs;  // those above the estimate's own error, the largest first
  // Trials that no other beats in all objectives; of a single one: in it and in memory.
  std::vector<std::size_t> front;
};

// The best is that of the first objective. No trials: nothing could be simulated. `tie`: 0.03 for 3
// %. All arguments must outlive it.
Answer answer_of(const SweepPlan& plan, const Tuned& tuned, const Objectives& objectives,
                 double tie);

}  // namespace weft
