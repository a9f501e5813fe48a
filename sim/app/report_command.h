// `weft report`: a folder of results, or several runs side by side, as one HTML file.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace weft {

struct ReportCommand {
  std::vector<std::filesystem::path> folders;   // one of a run or a sweep, or several of runs
  std::optional<std::filesystem::path> output;  // else report.html in the folder; compared.html
};

int report_command(const ReportCommand& command);

}  // namespace weft
