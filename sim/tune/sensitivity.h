// Which numbers of the machine a result depends on, and how sure it is: each number is changed a
// little up and down, and all else stays.
//
//   elasticity = d ln(time) / d ln(number)      -0.4: 1 % more of it takes 0.4 % off the time
//
// by the difference of both runs; of one and the scenario as it is where the other does not load (a
// link faster than its NICs). What numbers are worth together is not asked.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/load.h"
#include "sim/scenario/machine_numbers.h"

namespace weft {

struct SensitivityOptions {
  LoadOptions load;
  double step = 0.05;  // a number is changed by this share, up and down
  int jobs = 1;
  std::function<void(std::size_t done, std::size_t all)> on_run = {};  // from any thread
  KnownRuns* known = nullptr;                                          // what runs have simulated
};

struct Elasticity {
  MachineNumber number;
  std::vector<double> of_modes;  // of each mode's time
};

struct Sensitivity {
  std::vector<std::string> modes;
  std::vector<double> time_us;             // of each, as it is
  std::vector<Elasticity> all;             // the largest first; those that change nothing last
  std::vector<MachineNumber> not_changed;  // no other value of them loads and runs
  int exit_code = 0;                       // the worst of a run that did not end as it should
  // Why there is nothing: spreads in comments of the machine's numbers that are none; else that
  // the scenario as it is does not run.
  Diagnostics wrong_comments;
  std::string problem;
};

// The scenario loads. Throws Interrupted.
Sensitivity sensitivity_of(const std::filesystem::path& scenario,
                           const SensitivityOptions& options);

// The relative standard deviation of a number: that of its fit where its comment says it, else what
// one of this sureness is taken to have. Ours, not measured: [M] 3 %, [P] 5 %, [S], [D] and no tag
// 10 %, [BG] 20 %; counts are exact.
double spread_of(const MachineNumber& number);

// That of a mode's time: the root of the sum over pairs of numbers of elasticity x spread of both
// and their correlation, which is 1 of a number with itself, and 0 of others but where a fit's
// comment says it. `minus`: of the ratio of two modes.
double spread_of_mode(const Sensitivity& sensitivity, std::size_t mode,
                      std::optional<std::size_t> minus = {});

}  // namespace weft
