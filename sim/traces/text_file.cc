#include "sim/traces/text_file.h"

#include <string_view>
#include <utility>

#include "sim/traces/gunzip.h"

namespace weft {
namespace {

constexpr std::string_view kMagic = "\x1f\x8b";  // of files of the gzip format

}  // namespace

ReadText text_of_file(const std::filesystem::path& file, std::vector<InputFile>& inputs) {
  ReadText read = read_text(file);
  if (read.text) inputs.push_back({.path = file.string(), .hash = fnv1a_64_hex(*read.text)});
  return read;
}

ReadText unpacked_text_of_file(const std::filesystem::path& file, std::vector<InputFile>& inputs,
                               std::int64_t at_most) {
  ReadText read = text_of_file(file, inputs);
  const bool packed = read.text && (file.extension() == ".gz" || read.text->starts_with(kMagic));
  if (!packed) return read;
  Unpacked unpacked = gunzipped(*read.text, at_most);
  read.text.reset();
  read.problem = std::move(unpacked.problem);
  if (read.problem.empty()) read.text = std::move(unpacked.text);
  return read;
}

}  // namespace weft
