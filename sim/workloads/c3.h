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

// What a mode means for this scenario. One with a partition takes it from c3.partition_cus.
C3Strategy strategy_of(const Scenario& scenario, const Cluster& cluster, Mode mode);

// The two halves of a partition that gives the collective `cus`, each by itself: what the table of
// mode lookup is made from.
C3Strategy compute_beside(const Scenario& scenario, int cus);
C3Strategy communicate_on(const Scenario& scenario, int cus);

TaskGraph lower_c3(const Scenario& scenario, const Cluster& cluster, const C3Strategy& strategy);

}  // namespace weft
