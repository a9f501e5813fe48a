// How many CUs the collective of a c3 scenario gets, if the scenario leaves that open: only runs
// can tell.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/core/quantity.h"

namespace weft {

// One size of the partition and what was found for it. A time that was not looked for is 0.
struct PartitionTried {
  int cus = 0;           // of the collective
  Duration compute;      // the GEMM by itself on the others
  Duration communicate;  // the collective by itself on these
  Duration together;
};

struct Partition {
  int cus = 0;  // 0: the mode has none
  std::vector<PartitionTried> tried;
};

// Mode lookup, and modes whose c3.partition_cus is not given: a table of the GEMM's and the
// collective's times alone at powers of two of CUs; the size where the longer of both is shortest.
// Mode best: both together at powers of two, then at sizes around the best of them, half as far
// each time, down to one step of the mask; the shortest.
Partition choose_partition(const Scenario& scenario, const Cluster& cluster, Mode mode);

}  // namespace weft
