// A whole file as it is on the disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/overlay.h"

namespace weft {

// Nothing if it is no file that can be read; else `inputs` gets its hash.
std::optional<std::string> text_of_file(const std::filesystem::path& file,
                                        std::vector<InputFile>& inputs);

}  // namespace weft
