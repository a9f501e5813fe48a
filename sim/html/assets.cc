#include "sim/html/assets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::array kKinds = {"bars", "stacked", "lines", "heat"};

// Of Vega's modules those that these charts need; vega-selections' file lacks its last letter.
struct Library {
  const char* module;
  const char* file;
};
constexpr auto kLibraries = std::to_array<Library>({
    {"vega-util", "vega-util"},
    {"vega-time", "vega-time"},
    {"vega-format", "vega-format"},
    {"vega-canvas", "vega-canvas"},
    {"vega-loader", "vega-loader"},
    {"vega-statistics", "vega-statistics"},
    {"vega-scale", "vega-scale"},
    {"vega-scenegraph", "vega-scenegraph"},
    {"vega-dataflow", "vega-dataflow"},
    {"vega-transforms", "vega-transforms"},
    {"vega-view-transforms", "vega-view-transforms"},
    {"vega-encode", "vega-encode"},
    {"vega-expression", "vega-expression"},
    {"vega-event-selector", "vega-event-selector"},
    {"vega-selections", "vega-selection"},
    {"vega-functions", "vega-functions"},
    {"vega-runtime", "vega-runtime"},
    {"vega-parser", "vega-parser"},
    {"vega-view", "vega-view"},
});

// The first folder that is there; else a problem with what would be right.
fs::path folder_of(const std::vector<fs::path>& folders, const char* what, Diagnostics& problems) {
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    if (fs::is_directory(folder, ignored)) return folder;
  }
  std::vector<std::string> names;
  names.reserve(folders.size());
  for (const fs::path& folder : folders) names.push_back(folder.string());
  add_problem(problems, what, 0, "", fmt::format("not found in {}", fmt::join(names, ", ")));
  return {};
}

// A map of the source would be asked for over the network.
std::string without_source_map(const std::string& text) {
  return text.substr(0, text.find("//# sourceMappingURL="));
}

}  // namespace

Assets load_assets(const AssetDirs& dirs, Diagnostics& problems) {
  Assets assets;
  const fs::path page = folder_of(dirs.page, "weft's html folder", problems);
  const fs::path vega =
      folder_of(dirs.vega, "Vega 5 (on Debian: apt-get install libjs-vega)", problems);
  if (problems.has_errors()) return assets;
  const auto text = [&](const fs::path& file) { return read_text(file, problems).value_or(""); };
  assets.css = text(page / "page.css");
  assets.modules = text(page / "modules.js");
  assets.page = text(page / "page.js");
  assets.licences = text(page / "licences.txt");
  for (const char* kind : kKinds) {
    if (auto json = read_json(page / fmt::format("{}.json", kind), problems)) {
      assets.kinds[kind] = std::move(*json);
    }
  }
  for (const auto& [module, file] : kLibraries) {
    assets.libraries.emplace_back(module,
                                  without_source_map(text(vega / fmt::format("{}.min.js", file))));
  }
  return assets;
}

}  // namespace weft
