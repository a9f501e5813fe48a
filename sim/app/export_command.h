// `weft export`: a scenario's model as Chakra execution traces, or as a graph to edit and run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct ExportCommand {
  std::filesystem::path scenario;
  std::vector<std::string> sets;
  // One of them.
  std::optional<std::filesystem::path> chakra;  // prefix
  std::optional<std::filesystem::path> graph;   // file: JSON if it ends in .json, else YAML
};

// Returns the exit code; failures of the system are exceptions.
int export_command(const ExportCommand& command);

}  // namespace weft
