#include "sim/app/compared_keys.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sim/files/read_text.h"
#include "sim/report/result_files.h"
#include "sim/scenario/differing_keys.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Empty, with a problem, where it cannot be read.
std::optional<Node> resolved_scenario(const fs::path& file, Diagnostics& problems) {
  const ReadText text = read_text(file, kMaxSourceBytes + 1);
  if (!text.text) {
    add_problem(problems, file, 0, "", text.problem);
    return std::nullopt;
  }
  return parse_tree({.file = file.string(), .text = *text.text}, problems);
}

}  // namespace

ComparedKeys compared_keys(const std::vector<fs::path>& folders, Diagnostics& problems) {
  ComparedKeys keys{.rows = {}, .absent = "None: the scenarios are the same."};
  std::vector<Node> scenarios;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / kResolvedScenario;
    std::error_code ignored;
    if (!fs::exists(file, ignored)) {
      keys.absent = fmt::format("Unknown: there is no {}; an older weft made these results.",
                                file.generic_string());
      return keys;
    }
    if (auto tree = resolved_scenario(file, problems)) scenarios.push_back(*std::move(tree));
  }
  if (problems.has_errors()) return keys;
  for (DifferingKey& key : differing_keys(scenarios)) {
    std::vector<std::string> row{std::move(key.path)};
    row.insert(row.end(), key.values.begin(), key.values.end());
    keys.rows.push_back(std::move(row));
  }
  return keys;
}

}  // namespace weft
