#include "sim/app/config_dirs.h"

#include <system_error>

namespace weft {
namespace {

namespace fs = std::filesystem;

void add_if_there(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) folders.push_back(folder);
}

}  // namespace

std::vector<fs::path> config_dirs(const fs::path& scenario) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path file = fs::absolute(scenario, ignored).lexically_normal();
  for (fs::path above = file.parent_path(); above.has_relative_path();
       above = above.parent_path()) {
    if (above.filename() != "configs") continue;
    // As the user wrote the scenario: messages and the manifest show these names.
    const fs::path shown = scenario.is_relative() ? fs::proximate(above, ignored) : above;
    add_if_there(folders, shown.empty() ? above : shown);
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path().parent_path() / "share/weft/configs";
  const bool is_installed = !ignored && fs::is_directory(installed, ignored);
  add_if_there(folders, is_installed ? installed : fs::path(WEFT_SOURCE_CONFIGS));
  return folders;
}

}  // namespace weft
