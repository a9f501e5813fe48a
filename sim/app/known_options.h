// Where commands that simulate keep what they have simulated, for other processes.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/engine/known_runs.h"

namespace weft {

// In the folder of a sweep's results, where no other folder is named.
inline constexpr const char* kKnownFolder = "known";

struct KnownOptions {
  std::string folder;  // empty: it was not said; "none"
  Bytes most = KnownFolder{}.most;
};

// --known and --known-most. `by_default` ends the help: "none".
void add_known(CLI::App& command, KnownOptions& options, const std::string& by_default);

// The folder asked for, by the environment where the command line has none, or this one.
std::optional<std::filesystem::path> known_folder(
    const KnownOptions& options,
    const std::optional<std::filesystem::path>& otherwise = std::nullopt);

// In memory, and in a folder if there is one.
std::unique_ptr<KnownRuns> known_runs(const KnownOptions& options,
                                      const std::optional<std::filesystem::path>& folder);

// The same for another command, with the folder's path from the root.
std::vector<std::string> known_arguments(const KnownOptions& options,
                                         const std::optional<std::filesystem::path>& folder);

}  // namespace weft
