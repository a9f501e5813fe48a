// What a file of YAML is, whether or not it has mistakes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace weft {

enum class FileKind : std::uint8_t { scenario, sweep, cache_application, unknown };

// By the keys of its outermost map.
FileKind kind_of_file(const std::filesystem::path& file);
FileKind kind_of_text(std::string_view text);

}  // namespace weft
