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

// All of them. files.json comes last: what is cut off before it is no result.
std::vector<OutputFile> result_files(const RunReport& report);

// The names of all that a run may write.
std::vector<std::string> result_names();

}  // namespace weft
