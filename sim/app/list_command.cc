#include "sim/app/list_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

#include "sim/app/colors.h"
#include "sim/app/config_dirs.h"
#include "sim/app/list_lines.h"
#include "sim/run/exit_code.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Files of a folder of the configs.
struct Folder {
  const char* name;
  const char* path;
  const char* help;
  ListLine (*line_of)(const PartFile& part);
};
constexpr std::array kFolders = {
    Folder{"gpus", "gpus", "for cluster.gpu", gpu_line},
    Folder{"clusters", "clusters", "for cluster", cluster_line},
    Folder{"models", "models", "for workload", model_line},
    Folder{"nics", "nics", "for cluster.nic", nic_line},
    Folder{"kernels", "kernels", "for workload (lookups), cluster.gpu.library_attention",
           kernel_line},
    Folder{"scenarios", "scenarios", "to run, or to start from", scenario_line},
    Folder{"sweeps", "sweeps", "for weft sweep", sweep_line},
    Folder{"caches", "cache/machines", "for cluster.gpu.caches, and weft cache --machine",
           caches_line},
    Folder{"applications", "cache/applications", "for weft cache", application_line},
};

// Words of a scenario.
struct Words {
  const char* name;
  const char* help;
  std::vector<ListLine> (*lines)();
};
constexpr std::array kWords = {
    Words{"collectives", "for workload.op of kind: collective", collective_lines},
    Words{"shapes", "for cluster.scale_up.shape and cluster.scale_out.shape", shape_lines},
};

// As a base names them, without .yaml, in order.
std::vector<std::string> names_in(const fs::path& configs, const char* folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  fs::recursive_directory_iterator files(configs / folder, ignored);
  for (const fs::recursive_directory_iterator end; !ignored && files != end;
       files.increment(ignored)) {
    fs::path name = files->path().lexically_relative(configs);
    if (name.extension() == ".yaml") names.push_back(name.replace_extension().generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Every folder of configs that a scenario here can use; what an earlier one hides is left out.
void print_folder(const Folder& folder) {
  const std::vector<fs::path> dirs = config_dirs("here.yaml");
  std::set<std::string> shown;
  for (const fs::path& dir : dirs) {
    std::vector<ListLine> lines;
    for (const std::string& name : names_in(dir, folder.path)) {
      if (!shown.insert(name).second) continue;
      ListLine line = folder.line_of({.file = dir / (name + ".yaml"), .config_dirs = dirs});
      line.word = name;
      lines.push_back(std::move(line));
    }
    if (!lines.empty()) print_text(fmt::format("{}:\n{}", dir.string(), aligned_lines(lines)));
  }
}

}  // namespace

std::vector<std::string> listed_things() {
  std::vector<std::string> things;
  things.reserve(kFolders.size() + kWords.size());
  for (const Folder& folder : kFolders) things.emplace_back(folder.name);
  for (const Words& words : kWords) things.emplace_back(words.name);
  return things;
}

int list_command(const ListCommand& command) {
  std::vector<ListLine> things;
  for (const Folder& folder : kFolders) {
    if (command.what == folder.name) print_folder(folder);
    things.push_back({.word = folder.name, .title = folder.help, .figures = ""});
  }
  for (const Words& words : kWords) {
    if (command.what == words.name) print_text(aligned_lines(words.lines()));
    things.push_back({.word = words.name, .title = words.help, .figures = ""});
  }
  if (command.what.empty())
    fmt::print("weft list WHAT, where WHAT is one of\n{}", aligned_lines(things));
  return exit_code::ok;
}

}  // namespace weft
