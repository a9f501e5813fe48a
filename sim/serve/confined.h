// Paths that a request names, kept inside of the served folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/overlay.h"

namespace weft {

// Where the path leads, links followed, if that is there and within the folder. `folder` is
// canonical.
std::optional<std::filesystem::path> path_within(const std::filesystem::path& folder,
                                                 const std::string& relative);

// Whether an existing file is in one of these folders, links followed on either side.
bool is_within(const std::vector<std::filesystem::path>& folders,
               const std::filesystem::path& file);

// What is said of a file elsewhere.
inline constexpr const char* kNotServed =
    "is not in the served folder; move it there, or serve a folder that holds it";

// The problems; but if a file elsewhere was read or complained about, only that it is there: one
// problem for each, which tells nothing that they hold.
Diagnostics confined(const Diagnostics& problems, const std::vector<InputFile>& inputs,
                     const std::vector<std::filesystem::path>& folders);

}  // namespace weft
