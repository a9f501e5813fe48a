// Names of presets (weft list) where a map has to stand: `model: llama3_8b`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

// What would be right in place of `key: word`; empty: no preset of such a map has this name.
// `folders`: where names of bases start from.
std::string right_for_preset(const std::string& key, const std::string& word,
                             const std::vector<std::filesystem::path>& folders);

}  // namespace weft
