#include "sim/traces/text_file.h"

namespace weft {

ReadText text_of_file(const std::filesystem::path& file, std::vector<InputFile>& inputs) {
  ReadText read = read_text(file);
  if (read.text) inputs.push_back({.path = file.string(), .hash = fnv1a_64_hex(*read.text)});
  return read;
}

}  // namespace weft
