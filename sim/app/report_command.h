// `weft report`: a folder of results as one HTML file.
#pragma once

#include <filesystem>
#include <optional>

namespace weft {

struct ReportCommand {
  std::filesystem::path folder;                 // of a run or a sweep
  std::optional<std::filesystem::path> output;  // else report.html in the folder
};

int report_command(const ReportCommand& command);

}  // namespace weft
