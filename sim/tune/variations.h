// The knobs that suit a kind of workload, each with the values that are tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

// Keys that change together, and their values as YAML.
struct Variation {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  // of all keys
};

// The most telling first: where there are too many points, the last ones are left out. Of a mode
// only what it uses; of none given, what all modes do.
std::vector<Variation> variations_of_operator(const Scenario& scenario, std::optional<Mode> mode);
std::vector<Variation> variations_of_dlrm(const Scenario& scenario, std::optional<Mode> mode);
// `layouts`: of sim/tune/layouts.h.
std::vector<Variation> variations_of_decoder(const Scenario& scenario, Variation layouts);

}  // namespace weft
