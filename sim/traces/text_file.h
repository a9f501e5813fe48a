// A whole file as it is on the disk.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/files/read_text.h"
#include "sim/scenario/overlay.h"

namespace weft {

// Adds the file's hash to `inputs`, if it can be read.
ReadText text_of_file(const std::filesystem::path& file, std::vector<InputFile>& inputs);

}  // namespace weft
