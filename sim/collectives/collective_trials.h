// Which of several ways to run a collective is the fastest, found by trying them.
#pragma once

#include <vector>

#include "sim/collectives/collective_choice.h"

namespace weft {

// The closed form may be wrong by this factor: a way predicted to be slower still is not tried.
constexpr double kDoubt = 3;

// Tried by all groups at once that make the call and may share links (groups_at_once), with nothing
// else running, on sound GPUs and links: what is fastest for one group alone may be slow where many
// share leaves or NICs. If the groups are too many for a trial, it has as many as it can. A way
// that the closed form predicts to be far slower than another is not tried; one whose trial would
// be too long is judged by the closed form. The cluster remembers the result, and
// so do the runs that it shares what is known with.
CollectiveChoice fastest(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                         const std::vector<CollectiveChoice>& ways);

}  // namespace weft
