// One file of the configs alone, with its bases: for lists of what there is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

struct PartFile {
  std::filesystem::path file;
  std::vector<std::filesystem::path> config_dirs;  // where a base is looked for, after beside it
};

// Nothing where the file has a mistake.
std::optional<GpuSpec> load_gpu(const PartFile& part);
std::optional<NicSpec> load_nic(const PartFile& part);
std::optional<ClusterSpec> load_cluster(const PartFile& part);
// A file made to be the base of `workload`: keys may be missing.
std::optional<Workload> load_model(const PartFile& part);

// The first paragraph of the comment that a file opens with, on one line; empty: there is none.
std::string opening_comment(const std::filesystem::path& file);

}  // namespace weft
