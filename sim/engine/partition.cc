#include "sim/engine/partition.h"

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/simulate.h"
#include "sim/scenario/modes.h"
#include "sim/workloads/c3.h"

namespace weft {
namespace {

class Search {
 public:
  Search(const Scenario& scenario, const Cluster& cluster)
      : scenario_(scenario),
        cluster_(cluster),
        step_(scenario.cluster.gpu.launch.mask_step),
        most_(largest()) {}

  Partition look_up() {
    Duration least;
    for (const int cus : powers_of_two()) {
      const Duration compute = time_of(scenario_, compute_beside(scenario_, cluster_, cus));
      const Duration communicate = time_of(scenario_, communicate_on(scenario_, cluster_, cus));
      partition_.tried.push_back(
          {.cus = cus, .compute = compute, .communicate = communicate, .together = {}});
      keep_if_least(cus, longer(compute, communicate), least);
    }
    return partition_;
  }

  Partition search() {
    Duration least;
    for (const int cus : powers_of_two()) try_size(cus, least);
    for (int gap = partition_.cus / 4 * 2; gap > 0; gap /= 2) {
      const int around = partition_.cus;
      const int distance = gap / step_ * step_;
      if (distance == 0) break;
      try_size(around - distance, least);
      try_size(around + distance, least);
    }
    return partition_;
  }

 private:
  // Half of the GPU, as the sizes that are powers of two go; or all channels.
  [[nodiscard]] int largest() const {
    const GpuSpec& gpu = cluster_.spec.gpu;
    const int half = std::max(step_, gpu.cus / 2);
    return scenario_.c3.partition_by == PartitionBy::channels
               ? std::max(step_, std::min(half, gpu.collective.channels))
               : half;
  }

  [[nodiscard]] std::vector<int> powers_of_two() const {
    std::vector<int> sizes;
    for (int cus = step_; cus <= most_; cus *= 2) sizes.push_back(cus);
    return sizes;
  }

  void try_size(int cus, Duration& least) {
    const auto same = [cus](const PartitionTried& tried) { return tried.cus == cus; };
    if (cus < step_ || cus > most_ ||
        std::any_of(partition_.tried.begin(), partition_.tried.end(), same)) {
      return;
    }
    Scenario scenario = scenario_;
    scenario.c3.partition_cus = cus;
    const Duration together = time_of(scenario, strategy_of(scenario, cluster_, Mode::best));
    partition_.tried.push_back(
        {.cus = cus, .compute = {}, .communicate = {}, .together = together});
    keep_if_least(cus, together, least);
  }

  // Of equal times the fewer CUs, which come first.
  void keep_if_least(int cus, Duration time, Duration& least) {
    if (partition_.cus > 0 && time >= least) return;
    partition_.cus = cus;
    least = time;
  }

  // A run that cannot end takes for ever.
  Duration time_of(const Scenario& scenario, const C3Strategy& strategy) {
    const RunResult result =
        simulate(cluster_, lower_c3(scenario, cluster_, strategy), scenario.run);
    return result.ending == Ending::finished ? result.time : scenario.run.max_time;
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  int step_;
  int most_;
  Partition partition_;
};

}  // namespace

Partition choose_partition(const Scenario& scenario, const Cluster& cluster, Mode mode) {
  if (!has_partition(mode)) return {};
  if (mode == Mode::best) return Search(scenario, cluster).search();
  if (mode == Mode::lookup || scenario.c3.partition_cus == 0) {
    return Search(scenario, cluster).look_up();
  }
  return {.cus = scenario.c3.partition_cus, .tried = {}};
}

Scenario with_partition(Scenario scenario, const Partition& partition) {
  if (partition.cus > 0) scenario.c3.partition_cus = partition.cus;
  return scenario;
}

}  // namespace weft
