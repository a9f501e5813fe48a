// In which ways single pairs of a model could be overlapped, by what they take by themselves: what
// a search for the best rules of `workload.pairs` chooses from.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/models/run_model.h"

namespace weft {

struct TriedWay {
  PairRule rule;  // for these pairs alone, with its mode and those knobs that it changes
  Duration time;  // of all these pairs one after another, as often as a GPU has them in a step
};

// Pairs of one name, of which a rule says the same: those of all layers that have them.
struct PairWays {
  std::string name;       // "mlp_down + mlp_down_reduce"
  std::string computing;  // its operator that computes
  Duration bulk;
  // Up to a quarter longer than the shortest, and bulk. None that is the same in effect as a
  // shorter one, or as what the pairs do without rules: of the same time, or of the same mode and
  // within 0.1 %. First the best of each mode, then the others; each the shortest first.
  std::vector<TriedWay> ways;
};

struct PairTrials {
  int at_a_time = 1;
  // Asked while something is simulated, by several threads; it may throw to stop all.
  std::function<void()> stop_if_asked = [] {};
  std::function<void(std::size_t done, std::size_t all)> on_done = [](std::size_t, std::size_t) {};
};

// Of each mode one knob after the other is brought to its best, all else as in the best so far:
// slices, order, WGs per CU, CUs that send, own input first; chunks; tiles; where the library runs
// the collective its algorithm, protocol and channels. Those that gain most come first; without
// pairs that nothing keeps from being overlapped. `model` is asked in mode mixed; `scenario` is its
// own.
std::vector<PairWays> pair_ways(ModelRun& model, const Scenario& scenario, const PairTrials& how);

}  // namespace weft
