// C3: concurrent computation and communication. A GEMM and a collective that do not depend on each
// other run on every GPU; a strategy decides which of them gets which CUs when.
#pragma once

#include "sim/tasks/task_graph.h"

namespace weft {

// Which is launched first. The other follows a launch gap later; if that is 0, at the same instant,
// and then gets its slots second unless its priority is higher.
enum class First : std::uint8_t { gemm, collective };

struct C3Strategy {
  bool compute = true;
  bool communicate = true;
  bool in_turn = false;  // the collective after the GEMM
  First first = First::gemm;
  int priority = 0;  // of the collective's stream, above that of the GEMM
  CollectiveExecutor executor = CollectiveExecutor::cu;
  CuRange gemm_cus;
  CuRange collective_cus;
  int channels = 0;  // of the collective; 0: the GPU's default
};

// The GEMM and the collective, and how each is run.
struct C3Pair {
  GemmWork gemm;
  CollectiveOp op = CollectiveOp::all_gather;
  Bytes bytes;  // of the collective's buffer
  C3Options options;
  CollectiveOptions collective;
  LaunchKind launch = LaunchKind::queue;
  std::uint64_t seed = 0;
};
C3Pair c3_pair(const Scenario& scenario);

// What a mode means for this pair. A partition gives the collective `partition_cus`.
C3Strategy strategy_of(const C3Pair& pair, const GpuSpec& gpu, Mode mode, int partition_cus);

// The two halves of a partition that gives the collective `cus`, each alone: mode lookup
// makes its table from them.
C3Strategy compute_beside(PartitionBy by, int cus);
C3Strategy communicate_on(PartitionBy by, int cus);

TaskGraph lower_c3(const C3Pair& pair, const Cluster& cluster, const C3Strategy& strategy);

}  // namespace weft
