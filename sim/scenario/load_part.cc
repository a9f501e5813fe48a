#include "sim/scenario/load_part.h"

#include <fstream>

#include "sim/gpu_model/gpu_fields.h"
#include "sim/network/network_fields.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

enum class Keys { all, some };

template <class Spec>
std::optional<Spec> load(const PartFile& part, Keys keys) {
  SourceFiles files;
  Diagnostics problems;
  const Node* tree = files.tree_of(part.file, {.file = part.file.generic_string()}, problems);
  if (tree == nullptr || tree->kind != Node::Kind::map) return std::nullopt;
  Node root = *tree;
  BaseResolver(files, part.config_dirs, problems).resolve(root, part.file);
  if (keys == Keys::some) root.incomplete = true;
  Reading reading(Reading::Purpose::read);
  Spec value;
  read_fields(MapReader(reading, root), [&](Fields& map) { fields(map, value); });
  if (problems.has_errors() || reading.problems().has_errors()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<GpuSpec> load_gpu(const PartFile& part) { return load<GpuSpec>(part, Keys::all); }
std::optional<NicSpec> load_nic(const PartFile& part) { return load<NicSpec>(part, Keys::all); }
std::optional<ClusterSpec> load_cluster(const PartFile& part) {
  return load<ClusterSpec>(part, Keys::all);
}
std::optional<Workload> load_model(const PartFile& part) {
  return load<Workload>(part, Keys::some);
}

std::string opening_comment(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string comment;
  std::string line;
  while (std::getline(stream, line) && line.starts_with("# ")) {
    comment += (comment.empty() ? "" : " ") + line.substr(2);
  }
  return comment;
}

}  // namespace weft
