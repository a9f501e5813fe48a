// A result of several files, and the manifest that is written last and says which belong together.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace weft {

// The manifest's name in a folder of results.
inline constexpr const char* kFilesOfResult = "files.json";

// By their names within the manifest's folder.
using FileHashes = std::map<std::string, std::string>;
std::string to_json(const FileHashes& hashes);

// Files that are read back. Where there is no manifest (the files are of another program, or of an
// older weft) nothing is known of them and all are taken.
class FileSet {
 public:
  explicit FileSet(const std::filesystem::path& manifest);

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const FileHashes& hashes() const { return hashes_; }  // by utf8_of_bytes()
  [[nodiscard]] bool lists(const std::string& name) const;

  // What is wrong with the manifest itself; empty: nothing.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // Why a file with this text does not belong to the others; empty: it does.
  [[nodiscard]] std::string problem_of(const std::string& name, std::string_view text) const;

 private:
  std::filesystem::path manifest_;
  bool known_ = false;
  std::string problem_;
  FileHashes hashes_;
};

}  // namespace weft
