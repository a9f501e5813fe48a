// The parts from which plans of several collectives are composed.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"

namespace weft {

struct Hop {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

struct BlockRange {
  std::uint32_t first = 0;
  std::uint32_t blocks = 1;
};

inline void add(Plan& plan, Hop hop, BlockRange range, Arrival arrival = Arrival::replaces,
                Source source = Source::held) {
  SIM_ASSERT(range.blocks <= UINT16_MAX);
  plan.transfers.push_back({.from = hop.from,
                            .to = hop.to,
                            .block = range.first,
                            .blocks = static_cast<std::uint16_t>(range.blocks),
                            .arrival = arrival,
                            .source = source});
}

// A rank and the blocks that belong to it: it ends up with their sum, or starts with them.
struct Member {
  std::uint32_t rank = 0;
  BlockRange part;
};
using Group = std::vector<Member>;

// Reduce-scatter, all-gather or all-reduce.
Plan scheme_plan(CollectiveOp op, Scheme scheme, const RankOrder& order);

void add_reduce_scatter(Plan& plan, Scheme scheme, const Group& group);
void add_all_gather(Plan& plan, Scheme scheme, const Group& group);

// The two halves of an all-reduce of blocks first_block ... of `blocks_to_share` over these ranks.
struct SharedBlocks {
  std::vector<std::uint32_t> ranks;
  std::uint32_t first_block = 0;
};
std::uint32_t blocks_to_share(Scheme scheme, std::uint32_t ranks);
void add_reduce_half(Plan& plan, Scheme scheme, const SharedBlocks& shared);
void add_gather_half(Plan& plan, Scheme scheme, const SharedBlocks& shared);

inline void begin_phase(Plan& plan) {
  plan.phases.push_back(static_cast<std::uint32_t>(plan.transfers.size()));
}

// Each scheme has a file of its own.
void add_ring_reduce_scatter(Plan& plan, const Group& group);
void add_ring_all_gather(Plan& plan, const Group& group);
void add_direct_reduce_scatter(Plan& plan, const Group& group);
void add_direct_all_gather(Plan& plan, const Group& group);
void add_halving_reduce_scatter(Plan& plan, const Group& group);
void add_doubling_all_gather(Plan& plan, const Group& group);

}  // namespace weft
