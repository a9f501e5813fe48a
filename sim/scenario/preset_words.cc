#include "sim/scenario/preset_words.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "sim/scenario/overlay.h"

namespace weft {
namespace {

// Maps of a scenario, and the folder of the configs with files that such a map may start from.
struct PresetOf {
  std::string_view key;
  std::string_view folder;
  std::string_view around;  // instead, the map around it may; empty: it is its own
};
constexpr std::array kPresets = {
    PresetOf{.key = "model", .folder = "models/", .around = "workload"},
    PresetOf{.key = "workload", .folder = "models/", .around = {}},
    PresetOf{.key = "cluster", .folder = "clusters/", .around = {}},
    PresetOf{.key = "gpu", .folder = "gpus/", .around = {}},
    PresetOf{.key = "nic", .folder = "nics/", .around = {}},
};

}  // namespace

std::string right_for_preset(const std::string& key, const std::string& word,
                             const std::vector<std::filesystem::path>& folders) {
  for (const PresetOf& row : kPresets) {
    if (row.key != key) continue;
    const std::string name = word.starts_with(row.folder) ? word : std::string(row.folder) + word;
    if (find_base(name, folders).empty()) continue;
    if (row.around.empty()) {
      return fmt::format("{0}: '{1}' is a file that this map may start from: {0}: {{base: {2}}}",
                         key, word, name);
    }
    return fmt::format(
        "{0}: '{1}' is a file that all of {2} may start from, its kind too: write 'base: {3}' in "
        "place of '{0}: {1}'",
        key, word, row.around, name);
  }
  return {};
}

}  // namespace weft
