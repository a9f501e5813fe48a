// Loading: a file (and --set options) to a checked Scenario, or everything that is wrong with it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// Where keys stand that later stages may find something wrong with: all but the cluster's.
class KeyPlaces {
 public:
  struct Place {
    SourcePosition at;
    std::string line;  // its text
  };
  using ByPath = std::map<std::string, Place, std::less<>>;  // "workload.pairs[0].slice_wgs"

  KeyPlaces() = default;
  explicit KeyPlaces(ByPath places) : places_(std::move(places)) {}

  // Problems of `file` as a whole are put where the key with their path stands, or the nearest map
  // around it; where nobody wrote any of them they stay as they are, as those of other files do.
  [[nodiscard]] Diagnostics placed(const Diagnostics& problems, const std::string& file) const;

 private:
  [[nodiscard]] const Place* place_of(std::string_view path) const;

  ByPath places_;
};

struct Loaded {
  std::optional<Scenario> scenario;  // present when there is no error
  Diagnostics problems;
  std::vector<InputFile> inputs;  // every file read, in the order of reading
  KeyPlaces places = {};          // of a scenario
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
