// What every key means, as text for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/spec/reader.h"

namespace weft {

// The key with this path and all below it; all keys for an empty path. A number is an element of a
// list: "pairs.0.mode" is described as pairs[].mode.
std::vector<KeyDoc> keys_at(const std::vector<KeyDoc>& keys, std::string_view path);

// A paragraph per key, at most 100 columns wide, with a line for each of its values.
std::string explain_text(const std::vector<KeyDoc>& keys);

// Meanings of a key's values: "ll: a flag with every 8 B; simple: ..."; those that explain
// themselves are left out.
std::string meanings_text(const KeyDoc& key);

// Why there is no key `path`, and which one may be meant.
std::string no_such_key(const std::vector<KeyDoc>& keys, std::string_view path);

}  // namespace weft
