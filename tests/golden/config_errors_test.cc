// Every message about a wrong scenario, as the user sees it: a folder per mistake with the scenario
// and the text. WEFT_UPDATE_GOLDENS=1 in the environment rewrites the texts; read them before
// committing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/scenario/load.h"

namespace weft::config_errors_test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(WEFT_SOURCE_DIR) / "tests/golden/config_errors";

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> cases() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (fs::exists(entry.path() / "scenario.yaml")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The same text wherever the repository lies.
std::string without_folder(std::string text) {
  const std::string folder = kFolder.generic_string() + '/';
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
    text.erase(at, folder.size());
  }
  return text;
}

TEST(ConfigErrors, every_mistake_is_explained_as_written_in_its_folder) {
  const bool update = std::getenv("WEFT_UPDATE_GOLDENS") != nullptr;
  ASSERT_GT(cases().size(), 50U);
  for (const fs::path& folder : cases()) {
    const Loaded loaded = load_scenario(
        folder / "scenario.yaml",
        {.sets = lines_of(folder / "sets.txt"), .config_dirs = {kFolder / "library"}});
    const std::string text = without_folder(loaded.problems.to_text());
    if (update) std::ofstream(folder / "expected.txt", std::ios::binary) << text;
    EXPECT_FALSE(loaded.scenario) << folder;
    EXPECT_EQ(read_file(folder / "expected.txt"), text) << folder;
  }
}

TEST(ConfigErrors, the_scenario_below_the_cases_has_no_mistake) {
  const Loaded loaded =
      load_scenario(kFolder / "good.yaml", {.sets = {}, .config_dirs = {kFolder / "library"}});
  EXPECT_EQ(loaded.problems.to_text(), "");
  EXPECT_TRUE(loaded.scenario);
}

}  // namespace
}  // namespace weft::config_errors_test
