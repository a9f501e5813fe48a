#include "sim/app/cache_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/app/config_dirs.h"
#include "sim/scenario/load_cache.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

using NamedFiles = std::map<std::string, fs::path>;

// Of two of one name the one in the nearer folder.
NamedFiles named_files(const char* folder) {
  NamedFiles files;
  for (const fs::path& configs : config_dirs("here.yaml")) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(configs / "cache" / folder, ignored)) {
      if (entry.path().extension() != ".yaml") continue;
      files.try_emplace(entry.path().stem().string(), entry.path());
    }
  }
  return files;
}

// As tables call it; empty where it has a mistake.
std::string name_within(const fs::path& file, std::string_view folder) {
  if (folder == "machines") {
    const auto machine = load_cache_machine(file).value;
    return machine ? machine->name : "";
  }
  const auto application = load_cache_application(file).value;
  return application ? application->name : "";
}

std::vector<std::string> names_of(const NamedFiles& files) {
  std::vector<std::string> names;
  for (const auto& [name, file] : files) names.push_back(name);
  return names;
}

std::string no_such_file(const std::string& word, const char* folder, const NamedFiles& files) {
  const std::vector<std::string> names = names_of(files);
  std::string guess = nearest(word, names);
  for (const auto& [name, file] : files) {
    if (name_within(file, folder) == word) guess = name;
  }
  return fmt::format("configs/cache/{} has no file of this name; {}", folder,
                     guess.empty() ? fmt::format("available: {}", fmt::join(names, " "))
                                   : fmt::format("did you mean '{}'?", guess));
}

}  // namespace

std::vector<std::string> cache_names(const char* folder) { return names_of(named_files(folder)); }

fs::path cache_file(const std::string& word, const char* folder, Diagnostics& problems) {
  fs::path path = word;
  const bool as_a_base = path.parent_path() == fs::path("cache") / folder && !fs::exists(path);
  if (path.has_extension() || (path.has_parent_path() && !as_a_base)) return path;
  const NamedFiles files = named_files(folder);
  const auto found = files.find(path.filename().string());
  if (found != files.end()) return found->second;
  std::string message = no_such_file(word, folder, files);
  problems.add(
      {.at = {.file = word}, .path = "", .message = std::move(message), .source_line = ""});
  return {};
}

}  // namespace weft
