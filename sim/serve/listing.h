// What a folder holds that the page can open.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/serve/asked_run.h"

namespace weft {

struct FoundResult {
  enum class Kind { run, sweep };
  std::string name;  // its folder within the served one
  Kind kind = Kind::run;
  std::vector<std::string> timelines{};  // files of it that are neither of a result's names
};
struct Found {
  std::vector<FoundResult> results;
  std::vector<std::string> scenarios;
  std::size_t left_out = 0;  // beyond what is listed
};

// In the order of their names. Folders within folders, down to three; what is hidden, or a link
// that leaves the folder, is left out.
Found found_in(const std::filesystem::path& folder);

// The same with titles and times of the runs, and what comes with weft.
ServedJson listing(const ServedFolder& served);

// Whether the folder itself is one.
bool holds_a_result(const std::filesystem::path& folder);

// Whether this names a run's results in the served folder, nothing hidden on the way.
bool is_run(const std::filesystem::path& served, const std::string& name);

// Whether a file may be asked for by itself: one that a run writes, or a timeline beside those.
bool is_servable(const std::string& name);

}  // namespace weft
