// Whole files as they are on the disk, and why they cannot be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace weft {

struct ReadText {
  std::optional<std::string> text;
  std::string problem;   // why there is none, in the words of the system: "Permission denied"
  std::error_code code;  // none where it is there, but not a regular file
};

// A pipe or a device could block for ever: only regular files are read, up to `at_most` bytes.
ReadText read_text(const std::filesystem::path& file, std::size_t at_most = SIZE_MAX);

// The standard input, whatever it is.
ReadText read_standard_input(std::size_t at_most = SIZE_MAX);

// A file that this program wrote: empty where there is none; what fails is an exception.
std::string read_own(const std::filesystem::path& file);

// What a code means; a missing file is "no such file".
std::string words_of(const std::error_code& code);

}  // namespace weft
