#include "sim/traces/text_file.h"

#include <fstream>
#include <iterator>

namespace weft {

std::optional<std::string> text_of_file(const std::filesystem::path& file,
                                        std::vector<InputFile>& inputs) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return std::nullopt;
  inputs.push_back({.path = file.string(), .hash = fnv1a_64_hex(text)});
  return text;
}

}  // namespace weft
