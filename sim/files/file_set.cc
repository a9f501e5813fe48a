#include "sim/files/file_set.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/core/byte_names.h"
#include "sim/files/checksum.h"
#include "sim/files/read_text.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string to_json(const FileHashes& hashes) {
  Json files = Json::object();
  for (const auto& [name, hash] : hashes) files[utf8_of_bytes(name)] = hash;
  return Json{{"files", files}}.dump(2) + "\n";
}

FileSet::FileSet(const std::filesystem::path& manifest) : manifest_(manifest) {
  const ReadText read = read_text(manifest);
  if (read.code == std::errc::no_such_file_or_directory) return;
  known_ = true;
  if (!read.text) {
    problem_ = read.problem;
    return;
  }
  const Json json = Json::parse(*read.text, nullptr, false);
  const bool listed = json.is_object() && json.contains("files") && json["files"].is_object();
  if (listed) {
    for (const auto& [name, hash] : json["files"].items()) {
      if (hash.is_string()) hashes_[name] = hash.get<std::string>();
    }
  }
  if (!listed || hashes_.size() != json["files"].size()) {
    problem_ = "damaged; it should list the files of a result with their hashes";
  }
}

bool FileSet::lists(const std::string& name) const { return hashes_.contains(utf8_of_bytes(name)); }

std::string FileSet::problem_of(const std::string& name, std::string_view text) const {
  if (!known_ || !problem_.empty()) return "";
  const auto found = hashes_.find(utf8_of_bytes(name));
  const std::string listing = manifest_.filename().string();
  if (found == hashes_.end()) {
    return fmt::format("is not listed in {}: it belongs to another result", listing);
  }
  if (found->second == checksum_of(text)) return "";
  return fmt::format(
      "does not match {}: writing was interrupted, or the file was changed later; make "
      "the results again",
      listing);
}

}  // namespace weft
