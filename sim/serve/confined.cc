#include "sim/serve/confined.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

namespace weft {
namespace {

namespace fs = std::filesystem;

bool begins_with(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

}  // namespace

std::optional<fs::path> path_within(const fs::path& folder, const std::string& relative) {
  if (relative.empty() || fs::path(relative).is_absolute()) return std::nullopt;
  std::error_code failed;
  fs::path leads_to = fs::canonical(folder / relative, failed);
  if (failed || !begins_with(leads_to, folder)) return std::nullopt;
  return leads_to;
}

bool is_within(const std::vector<fs::path>& folders, const fs::path& file) {
  std::error_code failed;
  const fs::path leads_to = fs::canonical(file, failed);
  if (failed) return false;
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    std::error_code ignored;
    return begins_with(leads_to, fs::weakly_canonical(folder, ignored));
  });
}

Diagnostics confined(const Diagnostics& problems, const std::vector<InputFile>& inputs,
                     const std::vector<fs::path>& folders) {
  std::set<std::string> elsewhere;
  const auto is_elsewhere = [&](const std::string& file) {
    std::error_code ignored;
    if (file.empty() || !fs::exists(file, ignored) || is_within(folders, file)) return false;
    elsewhere.insert(file);
    return true;
  };
  Diagnostics told;
  for (const Diagnostic& one : problems.all()) {
    if (!is_elsewhere(one.at.file)) told.add(one);
  }
  for (const InputFile& input : inputs) is_elsewhere(input.path);
  for (const std::string& file : elsewhere) {
    Diagnostic problem;
    problem.at.file = file;
    problem.message = kNotServed;
    told.add(std::move(problem));
  }
  return told;
}

}  // namespace weft
