// What differs between scenarios, key by key.
#pragma once

#include <string>
#include <vector>

#include "sim/spec/tree.h"

namespace weft {

struct DifferingKey {
  std::string path;
  std::vector<std::string> values;  // of each scenario; "-": it has no such key
};

// In the order in which the keys appear. Lists are compared as a whole.
std::vector<DifferingKey> differing_keys(const std::vector<Node>& scenarios);

}  // namespace weft
