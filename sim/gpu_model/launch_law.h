// Launch overheads of kernels (docs/model.md, "Kernels" and "Residency and dispatch").
//
//   a kernel that does something starts the launch gap + launch.ramp after the one before it
//   WG i starts i x launch.wg_interval after the first
//   a measured time is longer by launch.clock than a simulated one
//
// The closed forms are in seconds.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

// The gap before a kernel that computes: the launch's, plus what its start and end add.
Duration gap_of_work(const LaunchSpec& launch, Duration gap);

// From the start of a kernel's first WG to that of its last.
double last_wg_seconds(const LaunchSpec& launch, std::int64_t wgs);

// The time that would be measured of what takes `simulated` seconds.
double measured_seconds(const LaunchSpec& launch, double simulated);

// The measured time of a row of n empty kernels of `wgs` WGs, each a gap after the one before.
double measured_row_seconds(const LaunchSpec& launch, Duration gap, std::int64_t n,
                            std::int64_t wgs);

// The measured time of one kernel that waits in the queue and then runs for `kernel` seconds; and
// that of one that computes.
double measured_kernel_seconds(const LaunchSpec& launch, double kernel);
double measured_work_seconds(const LaunchSpec& launch, double kernel);

}  // namespace weft
