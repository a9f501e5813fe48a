#include "sim/app/config_dirs.h"

#include <system_error>

#include "sim/scenario/configs_above.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

void add_if_there(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) folders.push_back(folder);
}

std::vector<fs::path> beside_program(const char* folder) {
  std::vector<fs::path> folders;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    add_if_there(folders, program.parent_path().parent_path() / "share/weft" / folder);
  }
  return folders;
}

}  // namespace

std::vector<fs::path> config_dirs(const fs::path& scenario) {
  std::vector<fs::path> folders = configs_above(scenario);
  const std::vector<fs::path> installed = beside_program("configs");
  if (installed.empty()) add_if_there(folders, WEFT_SOURCE_CONFIGS);
  folders.insert(folders.end(), installed.begin(), installed.end());
  return folders;
}

std::vector<fs::path> html_dirs() {
  std::vector<fs::path> folders = beside_program("html");
  folders.emplace_back(WEFT_SOURCE_HTML);
  return folders;
}

std::vector<fs::path> vega_dirs() {
  std::vector<fs::path> folders = beside_program("vega");
  folders.emplace_back(WEFT_VEGA);
  return folders;
}

}  // namespace weft
