// Which of several ways to run a collective is the fastest: they are tried.
#pragma once

#include <vector>

#include "sim/collectives/collective_choice.h"

namespace weft {

// The closed form may be wrong by so much: what it holds for slower still is not tried.
constexpr double kDoubt = 3;

// By all groups at once that make the call and may share links (groups_at_once), with nothing
// beside them, on GPUs and links as they should be: what is the fastest for one alone may be slow
// where many share leaves or NICs. Of groups too many for a trial, as many as it may have. A way
// that the closed form holds for far slower than another is not tried; one of which a trial would
// be too long, the closed form judges. The cluster remembers what came out.
CollectiveChoice fastest(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                         const std::vector<CollectiveChoice>& ways);

}  // namespace weft
