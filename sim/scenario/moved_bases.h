// What a file names by where it stands, for a copy of it in another folder.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "sim/spec/edit.h"

namespace weft {

struct MovedFile {
  std::filesystem::path from;
  std::filesystem::path to;
  std::vector<std::filesystem::path> dirs_from;  // where a base is looked for, after beside it
  std::vector<std::filesystem::path> dirs_to;
};

// New values for those bases, and paths of ASTRA-sim's networks, of `text` that would mean another
// file, or none, in the other folder.
std::vector<NewValue> moved_bases(std::string_view text, const MovedFile& moved);

}  // namespace weft
