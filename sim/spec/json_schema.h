// A JSON Schema (draft 7, which editors know) of the files of a scenario, made from what the reader
// says of its keys: types, words, units, keys that are required. Ranges of quantities are only
// described; what the schema accepts may still be refused by the reader, never the other way round.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/spec/reader.h"

namespace weft {

// A kind of file: what it holds of a scenario.
struct SchemaPart {
  std::string_view name;  // "gpu"
  std::string_view path;  // "cluster.gpu"; empty: a whole scenario
  bool whole;             // false: made to be a base, keys may be missing
};

const std::vector<SchemaPart>& schema_parts();

std::string json_schema(const std::vector<KeyDoc>& keys, const SchemaPart& part);

// Of a sweep of scenarios with these keys (docs/sweeps.md).
std::string sweep_schema(const std::vector<KeyDoc>& keys);

}  // namespace weft
