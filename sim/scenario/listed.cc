#include "sim/scenario/listed.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <system_error>
#include <utility>

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

std::vector<Listed> files_listed(const Folder& folder, const std::vector<fs::path>& config_dirs) {
  std::vector<Listed> all;
  std::set<std::string> shown;
  for (const fs::path& dir : config_dirs) {
    Listed here{.folder = dir, .lines = {}};
    for (const std::string& name : names_in(dir, folder.path)) {
      if (!shown.insert(name).second) continue;
      ListLine line = folder.line_of({.file = dir / (name + ".yaml"), .config_dirs = config_dirs});
      line.word = name;
      here.lines.push_back(std::move(line));
    }
    if (!here.lines.empty()) all.push_back(std::move(here));
  }
  return all;
}

}  // namespace

std::vector<ListLine> listed_things() {
  std::vector<ListLine> things;
  things.reserve(kFolders.size() + kWords.size());
  for (const Folder& folder : kFolders) {
    things.push_back({.word = folder.name, .title = folder.help, .figures = ""});
  }
  for (const Words& words : kWords) {
    things.push_back({.word = words.name, .title = words.help, .figures = ""});
  }
  return things;
}

std::vector<Listed> listed(std::string_view what, const std::vector<fs::path>& config_dirs) {
  for (const Folder& folder : kFolders) {
    if (what == folder.name) return files_listed(folder, config_dirs);
  }
  for (const Words& words : kWords) {
    if (what == words.name) return {{.folder = {}, .lines = words.lines()}};
  }
  return {};
}

}  // namespace weft
