// A sweep as an array of Slurm jobs: each task runs its share of the points, `weft sweep --shard`.
#pragma once

#include "sim/app/sweep_command.h"
#include "sim/sweep/plan.h"

namespace weft {

// Submits what is not finished, waits, submits again what was lost, merges. The exit code.
int launch_on_slurm(const SweepPlan& plan, const SweepCommand& command);

// How far the sweep of this folder is, from anywhere; merges what is finished. The exit code.
int slurm_status(const SweepCommand& command);

}  // namespace weft
