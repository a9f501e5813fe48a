#include "sim/serve/confined.h"

#include <algorithm>
#include <system_error>

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

Diagnostics without_lines_elsewhere(const Diagnostics& problems,
                                    const std::vector<fs::path>& folders) {
  Diagnostics told;
  for (Diagnostic one : problems.all()) {
    std::error_code ignored;
    const bool is_file = !one.at.file.empty() && fs::exists(one.at.file, ignored);
    if (is_file && !is_within(folders, one.at.file)) {
      one.at.line = one.at.column = 0;
      one.path = "";
      one.source_line = "";
      one.message = kNotServed;
    }
    told.add(std::move(one));
  }
  return told;
}

}  // namespace weft
