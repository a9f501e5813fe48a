// A whole file as it is on the disk, or unpacked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "sim/files/read_text.h"
#include "sim/scenario/overlay.h"

namespace weft {

// Adds the file's hash to `inputs`, if it can be read.
ReadText text_of_file(const std::filesystem::path& file, std::vector<InputFile>& inputs);

// The same, unpacked if its name ends in .gz or it begins as such files do; at most `at_most` bytes
// then.
ReadText unpacked_text_of_file(const std::filesystem::path& file, std::vector<InputFile>& inputs,
                               std::int64_t at_most);

}  // namespace weft
