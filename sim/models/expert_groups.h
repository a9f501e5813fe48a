// Routing limited to some groups of experts (DeepSeek-V3, arXiv:2412.19437, section 2.1.2: at most
// four nodes a token): of G groups of M experts a token takes the g whose best experts it likes
// most, and of these groups' experts the top_k that it likes most. All experts alike, in the order
// in which a token likes experts each new one is any of those left, and counts if its group does:
// if it is among the first g that appear.
//
// DeepSeek-V3 ranks groups by the sum of their two best experts, DeepEP's test by the best one, as
// here.
#pragma once

#include <cstdint>

#include "sim/scenario/model_spec.h"

namespace weft {

// The chance that a token has none of these experts: `some` of one group, or all of several whole
// groups. Exact, by the numbers of groups and experts taken so far: with a groups and n experts
// taken, the next one is of a new group with chance (G - a) M / ((G - a) M + a M - n).
double chance_of_none(const MoeSpec& moe, int some);

}  // namespace weft
