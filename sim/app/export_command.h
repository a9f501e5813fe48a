// `weft export`: a scenario's model as Chakra execution traces.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

struct ExportCommand {
  std::filesystem::path scenario;
  std::vector<std::string> sets;
  std::filesystem::path prefix;
};

// Returns the exit code; failures of the system are exceptions.
int export_command(const ExportCommand& command);

}  // namespace weft
