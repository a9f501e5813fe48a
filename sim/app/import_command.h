// `weft import`: a recorded trace as a graph to read, edit and run.
#pragma once

#include <filesystem>
#include <optional>

#include "sim/scenario/trace_work.h"

namespace weft {

struct ImportCommand {
  TraceWork work;
  int gpus = 0;
  std::optional<std::filesystem::path> output;  // .json: JSON; else YAML; none: only the summary
};

// Returns the exit code; failures of the system are exceptions.
int import_command(const ImportCommand& command);

}  // namespace weft
