// A JSON Schema (draft 7, which editors know) of YAML files, made from what the reader says of
// their keys: types, words, units, keys that are required. Ranges of quantities are only described;
// what the schema accepts may still be refused by the reader, never the other way round.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/spec/reader.h"

namespace weft {

// A key that a map may have besides those that are read: it names the file that the map starts
// from, so what is required may be there.
struct BaseKey {
  std::string_view name;
  std::string_view help;
  std::string_view pattern{};  // of its value; empty: any text
  std::string_view of{};       // path of the only map that may have it; empty: every map
};

// A kind of file: what it holds of all keys.
struct SchemaPart {
  std::string_view name;  // of the kind
  std::string_view path;  // of the map that it is; empty: the outermost
  bool whole;             // false: made to be a base, keys may be missing
};

std::string json_schema(const std::vector<KeyDoc>& keys, std::span<const BaseKey> bases,
                        const SchemaPart& part);

// The number of an element of a list, as a regular expression.
inline constexpr std::string_view kElementPattern = "(0|[1-9][0-9]*)";

// Pieces, for files whose keys no reader describes.
nlohmann::ordered_json schema_of_file(std::string_view name);        // its head
nlohmann::ordered_json schema_of_list(nlohmann::ordered_json item);  // not empty
// The same, or some of its elements by their numbers, over those of the list below it. `changed` is
// of such an element.
nlohmann::ordered_json schema_of_elements(nlohmann::ordered_json item,
                                          nlohmann::ordered_json changed);
nlohmann::ordered_json schema_of_key(const std::vector<KeyDoc>& keys,
                                     std::span<const BaseKey> bases, const KeyDoc& key);

}  // namespace weft
