// Loading: a file (and --set options) to a checked Scenario, or everything that is wrong with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/scenario.h"
#include "sim/spec/reader.h"

namespace weft {

struct LoadOptions {
  std::vector<std::string> sets;                   // "cluster.nodes=4", in the order given
  std::vector<std::filesystem::path> config_dirs;  // where a base is looked for, after beside it
};

struct Loaded {
  std::optional<Scenario> scenario;  // present when there is no error
  Diagnostics problems;
  std::vector<InputFile> inputs;  // every file read, in the order of reading
};

Loaded load_scenario(const std::filesystem::path& file, const LoadOptions& options);

// `name` stands for the file in messages, and relative bases start from its folder.
Loaded load_scenario_text(std::string_view text, std::string_view name, const LoadOptions& options);

// The values as YAML, nothing left to a default or a base. Loading it gives the same values.
std::string to_text(const Scenario& scenario);
// Of its cluster alone.
std::string to_text(const ClusterSpec& cluster);

// What every key means, in the order of reading.
std::vector<KeyDoc> describe_scenario();

}  // namespace weft
