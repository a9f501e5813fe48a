// The files of a run's results, before they are written.
#pragma once

#include <string>
#include <vector>

#include "sim/report/run_report.h"

namespace weft {

struct OutputFile {
  std::string name;
  std::string content;
};

// The scenario as it was run, nothing left to a default or a base: `weft run` takes it.
inline constexpr const char* kResolvedScenario = "resolved.yaml";

// All but files.json, which is written last: a folder without it is incomplete.
std::vector<OutputFile> result_files(const RunReport& report);

// The names of all files that a run may write.
std::vector<std::string> result_names();

}  // namespace weft
