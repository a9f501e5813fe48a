#include "sim/gpu_model/launch_law.h"

namespace weft {

Duration gap_of_work(const LaunchSpec& launch, Duration gap) { return gap + launch.ramp; }

double last_wg_seconds(const LaunchSpec& launch, std::int64_t wgs) {
  return to_seconds(launch.wg_interval) * static_cast<double>(wgs - 1);
}

double measured_seconds(const LaunchSpec& launch, double simulated) {
  return to_seconds(launch.clock) + simulated;
}

double measured_row_seconds(const LaunchSpec& launch, Duration gap, std::int64_t n,
                            std::int64_t wgs) {
  return measured_seconds(
      launch, static_cast<double>(n) * (to_seconds(gap) + last_wg_seconds(launch, wgs)));
}

double measured_kernel_seconds(const LaunchSpec& launch, double kernel) {
  return measured_seconds(launch, to_seconds(launch.queue) + kernel);
}

double measured_work_seconds(const LaunchSpec& launch, double kernel) {
  return measured_seconds(launch, to_seconds(gap_of_work(launch, launch.queue)) + kernel);
}

}  // namespace weft
