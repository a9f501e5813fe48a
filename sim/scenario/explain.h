// What every key means, as text for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/reader.h"

namespace weft {

// The key with this path and all below it; all keys for an empty path.
std::vector<KeyDoc> keys_at(const std::vector<KeyDoc>& keys, std::string_view path);

// A paragraph a key, at most 100 columns wide, a line for each word that it takes.
std::string explain_text(const std::vector<KeyDoc>& keys);

// What the words mean that a key takes: "ll: a flag with every 8 B; simple: ..."; those that say it
// themselves are left out.
std::string meanings_text(const KeyDoc& key);

// Why there is no key `path`, and which one may be meant.
std::string no_such_key(const std::vector<KeyDoc>& keys, std::string_view path);

}  // namespace weft
