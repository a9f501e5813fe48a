// What stands before and around a kernel (docs/model.md, "Kernels" and "Residency and dispatch").
//
//   a kernel that does something starts a launch's gap + launch.ramp after the one before it
//   WG i starts i x launch.wg_interval after the first
//   a measured time has launch.clock more than a simulated one
//
// The closed forms are in seconds.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// The gap in front of a kernel that computes: with what its start and end add to a launch's.
Duration gap_of_work(const LaunchSpec& launch, Duration gap);

// From the start of a kernel's first WG to that of its last.
double last_wg_seconds(const LaunchSpec& launch, std::int64_t wgs);

// What is simulated to take so long, as it is measured.
double measured_seconds(const LaunchSpec& launch, double simulated);

// A row of n empty kernels of so many WGs, each a gap after the one before, as it is measured.
double measured_row_seconds(const LaunchSpec& launch, Duration gap, std::int64_t n,
                            std::int64_t wgs);

// One kernel, as it is measured, that waits in the queue and then does what takes so long; and one
// that computes.
double measured_kernel_seconds(const LaunchSpec& launch, double kernel);
double measured_work_seconds(const LaunchSpec& launch, double kernel);

}  // namespace weft
