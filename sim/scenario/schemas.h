// JSON Schemas of the files that weft reads, for `weft schema`.
#pragma once

#include <string>
#include <vector>

#include "sim/spec/json_schema.h"

namespace weft {

// Files that hold a scenario or a part of one: a word of `weft schema` each.
const std::vector<SchemaPart>& schema_parts();

std::string schema_of(const SchemaPart& part);

// Of sweep files (docs/sweeps.md).
std::string sweep_schema();

}  // namespace weft
