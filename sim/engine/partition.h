// How many CUs the collective of a c3 scenario gets; found by runs if the scenario leaves it open.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/core/quantity.h"

namespace weft {

// One size of the partition and the times found for it. A time that was not simulated is 0.
struct PartitionTried {
  int cus = 0;           // of the collective
  Duration compute;      // the GEMM alone on the other CUs
  Duration communicate;  // the collective alone on these CUs
  Duration together;
};

struct Partition {
  int cus = 0;  // 0: the mode has none
  std::vector<PartitionTried> tried;
};

// Mode lookup, and modes whose c3.partition_cus is not given: from a table of the times of the GEMM
// and the collective alone, at sizes that double from one step of the mask, the size where the
// longer of both is shortest. Mode best: from runs of both together at the same sizes, then at
// sizes around the best of them, half as far away each time, down to one step of the mask, the
// size of the shortest.
Partition choose_partition(const Scenario& scenario, const Cluster& cluster, Mode mode);

}  // namespace weft
