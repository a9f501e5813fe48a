// What was found about a scenario's numbers, for people and for programs.
#pragma once

#include <string>

#include "sim/tune/sensitivity.h"

namespace weft {

// What `weft sensitivity` prints: the numbers that matter, the largest first.
std::string text_of(const Sensitivity& sensitivity);

std::string json_of(const Sensitivity& sensitivity);

// A line for each number and mode, also for those that change nothing.
std::string csv_of(const Sensitivity& sensitivity);

}  // namespace weft
