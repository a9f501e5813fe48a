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
      : pair_(c3_pair(scenario)),
        run_(scenario.run),
        cluster_(cluster),
        step_(cluster.spec.gpu.launch.mask_step),
        most_(largest()) {}

  Partition look_up() {
    Duration least;
    const PartitionBy by = pair_.options.partition_by;
    for (const int cus : powers_of_two()) {
      const Duration compute = time_of(compute_beside(by, cus));
      const Duration communicate = time_of(communicate_on(by, cus));
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
  // Half of the GPU; with a partition by channels at most as many as there are channels.
  [[nodiscard]] int largest() const {
    const GpuSpec& gpu = cluster_.spec.gpu;
    const int half = std::max(step_, gpu.cus / 2);
    return pair_.options.partition_by == PartitionBy::channels
               ? std::max(step_, std::min(half, channels_of(pair_.collective, gpu)))
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
    const Duration together = time_of(strategy_of(pair_, cluster_.spec.gpu, Mode::best, cus));
    partition_.tried.push_back(
        {.cus = cus, .compute = {}, .communicate = {}, .together = together});
    keep_if_least(cus, together, least);
  }

  // Of equal times, that of fewer CUs, which is tried first.
  void keep_if_least(int cus, Duration time, Duration& least) {
    if (partition_.cus > 0 && time >= least) return;
    partition_.cus = cus;
    least = time;
  }

  // A run that does not finish counts with the longest time allowed.
  Duration time_of(const C3Strategy& strategy) {
    const RunResult result = simulate(cluster_, lower_c3(pair_, cluster_, strategy), run_);
    return result.ending == Ending::finished ? result.time : run_.max_time;
  }

  C3Pair pair_;
  const RunOptions& run_;
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

}  // namespace weft
