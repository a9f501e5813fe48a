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

// A base that is not there is answered with the names that are; not where it leads out of a folder.
Diagnostic without_listing(Diagnostic problem) {
  const std::size_t list = problem.message.find("vailable: ");
  const bool outwards =
      problem.message.starts_with("no file ") && problem.message.find("..") != std::string::npos;
  if (outwards && list != std::string::npos) problem.message = "no such file";
  return problem;
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
    std::error_code unknown;
    const fs::path real = fs::weakly_canonical(folder, unknown);
    return !unknown && !real.empty() && begins_with(leads_to, real);
  });
}

Diagnostics confined(const Diagnostics& problems, const std::vector<InputFile>& inputs,
                     const std::vector<fs::path>& folders) {
  std::set<std::string> elsewhere;
  // Messages also name what is no file: a scenario by its title, a text by a name of its own.
  const auto note_if_elsewhere = [&](const std::string& file) {
    std::error_code ignored;
    if (file.find('/') == std::string::npos || !fs::exists(file, ignored)) return;
    if (!is_within(folders, file)) elsewhere.insert(file);
  };
  for (const Diagnostic& one : problems.all()) note_if_elsewhere(one.at.file);
  for (const InputFile& input : inputs) note_if_elsewhere(input.path);
  Diagnostics told;
  for (const Diagnostic& one : problems.all()) {
    if (elsewhere.empty()) told.add(without_listing(one));
  }
  for (const std::string& file : elsewhere) {
    Diagnostic problem;
    problem.at.file = file;
    problem.message = kNotServed;
    told.add(std::move(problem));
  }
  return told;
}

}  // namespace weft
