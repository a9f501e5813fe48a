// `weft calibrate`: from micro-benchmarks to a GPU's file.
#pragma once

#include <filesystem>
#include <optional>

namespace weft {

struct CalibrateCommand {
  std::filesystem::path measured;
  std::filesystem::path base;     // the GPU's file
  std::filesystem::path output;   // the same with fitted numbers
  std::filesystem::path cluster;  // of one node; may be empty
  std::optional<std::filesystem::path> cluster_output;
};

// Returns the exit code; failures of the system are exceptions.
int calibrate_command(const CalibrateCommand& command);

}  // namespace weft
