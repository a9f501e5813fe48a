// `weft sweep --launcher slurm`, and --status of what it has started.
#pragma once

#include "sim/app/sweep_command.h"
#include "sim/sweep/plan.h"

namespace weft {

// Submits what is not finished, waits, resubmits what was lost, merges. Returns the exit code.
int sweep_on_slurm(const SweepPlan& plan, const SweepCommand& command);

// Prints the progress of the sweep in this folder; merges it if it is finished. Returns the exit
// code.
int slurm_status(const SweepCommand& command);

}  // namespace weft
