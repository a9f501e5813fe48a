// The texts of the files that `weft calibrate` writes, each checked to be readable.
#pragma once

#include <optional>
#include <string>

#include "sim/app/calibrate_command.h"
#include "sim/measured/fit.h"

namespace weft {

bool is_of_link(const FittedValue& value);
bool is_of_workload(const FittedValue& value);

// The cluster that the base is put into to be simulated.
std::filesystem::path cluster_file(const CalibrateCommand& command);
std::vector<std::filesystem::path> config_dirs_of(const CalibrateCommand& command);

struct CalibratedFiles {
  std::string gpu;
  std::optional<std::string> cluster;
};

// With problems if a value cannot be written, or if it is one that no GPU can have.
CalibratedFiles calibrated_files(const CalibrateCommand& command, const Fit& fit,
                                 Diagnostics& problems);

}  // namespace weft
