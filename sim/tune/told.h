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
  const Objectives& objectives;
  [[nodiscard]] const Objective& objective() const { return objectives.front(); }
  double tie;           // as a share
  std::string command;  // gives the same answer again
};

// A value with its unit; rates and counts with four digits.
std::string value_text(const Achieved& achieved);

// What `weft tune` prints. The answer has a best trial.
std::string text_of(const Told& told);

// tune.json.
std::string json_of(const Told& told);

}  // namespace weft
