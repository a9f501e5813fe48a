#include "sim/scenario/file_kind.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/scenario/overlay.h"

namespace weft {
namespace {

FileKind kind_of_tree(const Node* tree) {
  if (tree == nullptr || tree->kind != Node::Kind::map) return FileKind::unknown;
  const auto has = [tree](std::string_view key) { return tree->find(key) != nullptr; };
  if (has("axes")) return FileKind::sweep;
  if (has("kernels") || has("arrays")) return FileKind::cache_application;
  constexpr std::array kOfScenarios = {"base",   "cluster",    "workload", "modes",
                                       "kernel", "collective", "fused",    "c3"};
  const bool is_scenario = std::any_of(kOfScenarios.begin(), kOfScenarios.end(), has);
  return is_scenario ? FileKind::scenario : FileKind::unknown;
}

}  // namespace

FileKind kind_of_file(const std::filesystem::path& file) {
  SourceFiles files;
  Diagnostics ignored;
  return kind_of_tree(files.tree_of(file, {.file = file.generic_string()}, ignored));
}

FileKind kind_of_text(std::string_view text) {
  SourceFiles files;
  Diagnostics ignored;
  return kind_of_tree(files.tree_of_text(text, "", ignored));
}

}  // namespace weft
