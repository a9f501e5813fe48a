// The answer of a search, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "sim/tune/answer.h"

namespace weft {

struct Told {
  const SweepPlan& plan;
  const Tuned& tuned;
  const Answer& answer;
  const Objective& objective;
  double tie;           // as a share
  std::string command;  // gives the same answer again
};

// The value of a trial with its unit; rates and counts with four digits.
std::string value_text(const Trial& trial);

// What `weft tune` prints. The answer has a best trial.
std::string text_of(const Told& told);

// tune.json.
std::string json_of(const Told& told);

}  // namespace weft
