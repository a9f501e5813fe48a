#include "sim/scenario/configs_above.h"

#include <system_error>

namespace weft {

namespace fs = std::filesystem;

std::vector<fs::path> configs_above(const fs::path& scenario) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path file = fs::absolute(scenario, ignored).lexically_normal();
  for (fs::path above = file.parent_path(); above.has_relative_path();
       above = above.parent_path()) {
    if (above.filename() != "configs" || !fs::is_directory(above, ignored)) continue;
    // As the user wrote the scenario: messages and the manifest show these names.
    const fs::path shown = scenario.is_relative() ? fs::proximate(above, ignored) : above;
    folders.push_back(shown.empty() ? above : shown);
  }
  return folders;
}

}  // namespace weft
