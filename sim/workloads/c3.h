// C3: concurrent computation and communication. A GEMM and a collective that know nothing of one
// another, on every GPU, under a strategy for who gets which CUs when.
#pragma once

#include "sim/tasks/task_graph.h"

namespace weft {

// Who is launched first. The other comes a launch's gap later; in one instant where that is 0, and
// then gets its places second unless its priority is higher.
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
  int channels = 0;  // of the collective; 0: the GPU's
};

// The two, and how each is run.
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

// What a mode means for this pair. One with a partition gives the collective so many CUs.
C3Strategy strategy_of(const C3Pair& pair, const GpuSpec& gpu, Mode mode, int partition_cus);

// The two halves of a partition that gives the collective `cus`, each by itself: what the table of
// mode lookup is made from.
C3Strategy compute_beside(PartitionBy by, int cus);
C3Strategy communicate_on(PartitionBy by, int cus);

TaskGraph lower_c3(const C3Pair& pair, const Cluster& cluster, const C3Strategy& strategy);

}  // namespace weft
