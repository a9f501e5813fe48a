// What the page asks to be run, from the text of its request to the values of a run.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/engine/recording.h"
#include "sim/scenario/load.h"

namespace weft {

using ServedJson = nlohmann::ordered_json;

// Where the bases of a scenario are looked for.
using ConfigDirs = std::function<std::vector<std::filesystem::path>(const std::filesystem::path&)>;

// Where a scenario comes from.
struct ScenarioSource {
  enum class From { result, file, shipped };
  From from = From::file;
  std::string name;            // within the folder, or of the configs
  std::filesystem::path file;  // that is read
};

struct ServedFolder {
  std::filesystem::path folder;  // canonical
  ConfigDirs config_dirs;
};

// Nothing where there is no such scenario, or it is not within the folder. `from` is result, file
// or shipped.
std::optional<ScenarioSource> source_of(const ServedFolder& served, const std::string& from,
                                        const std::string& name);

// The folders that a scenario may be read from.
std::vector<std::filesystem::path> readable(const ServedFolder& served,
                                            const ScenarioSource& source);

// As `weft run` loads it. What lies elsewhere is a problem.
Loaded load_source(const ServedFolder& served, const ScenarioSource& source,
                   const std::vector<std::string>& sets);

struct AskedRun {
  ScenarioSource source;
  std::vector<std::string> sets;
  std::optional<Detail> timeline;  // none: without one
  std::string name;                // of the result's folder; empty: chosen
};

// Or what is wrong with the request.
struct ParsedRun {
  std::optional<AskedRun> asked;
  std::string wrong;
};
ParsedRun parse_run(const ServedFolder& served, const std::string& body);

// The first of NAME-1, NAME-2 ... that is not there. NAME is that of the source, its number left
// out.
std::string free_name(const std::filesystem::path& folder, const ScenarioSource& source);

// Each with its position and its path, and as the command line prints it.
ServedJson to_json(const Diagnostics& problems);

}  // namespace weft
