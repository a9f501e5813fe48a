// `weft sweep` and `weft merge` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "sim/app/merge_command.h"
#include "sim/app/sweep_command.h"

namespace weft {

// --launcher and what goes with it.
void add_slurm(CLI::App& command, Launcher& launcher, SlurmOptions& slurm);

// `command` is filled in when the application parses.
CLI::App* add_sweep(CLI::App& app, SweepCommand& command);
CLI::App* add_merge(CLI::App& app, MergeCommand& command);

}  // namespace weft
