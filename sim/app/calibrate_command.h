// `weft calibrate`: micro-benchmarks to the file of a GPU.
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

// Returns the exit code; what the machine cannot do is an exception.
int calibrate_command(const CalibrateCommand& command);

}  // namespace weft
