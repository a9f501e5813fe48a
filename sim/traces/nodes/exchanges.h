// Which kernels of NCCL that send and receive are, together, an all-to-all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {

using Communicators = std::map<std::string, std::vector<std::uint32_t>>;  // ranks by name

struct AllToAlls {
  std::size_t found = 0;
  std::size_t empty = 0;  // messages of 0 B that were left out, as NCCL does
};

// NCCL does an all-to-all as messages in one kernel of each rank, to itself as well, which no
// pipeline sends to. So kernels that exchange messages with one another, directly or through
// others, are an all-to-all if one of them sends to itself, they are of different ranks, and each
// of their messages has both ends (the k-th send from one rank to another is that rank's k-th
// receive). Their calls become this collective, of their ranks: where these are not the whole
// communicator, of a group of their own, which is added to `communicators`. All other messages stay
// what they are.
AllToAlls find_all_to_alls(std::map<std::int64_t, KinetoFile>& profiles,
                           Communicators& communicators);

}  // namespace weft
