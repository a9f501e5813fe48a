// A whole file as it is on the disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace weft {

// Nothing if it is no file that can be read.
std::optional<std::string> text_of_file(const std::filesystem::path& file);

}  // namespace weft
