// Direct: each rank sends to all others, the peers in spreading order, so that all links and all
// directions of a torus are in use at any time.
#include <utility>

#include "sim/collectives/collective_plan.h"
#include "sim/collectives/plan_parts.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// Calls send({i, peer}) for all pairs of positions: everybody's first peer, everybody's second ...
template <class Send>
void for_each_pair(std::size_t n, std::size_t first, Send send) {
  if (n < 2) return;
  const std::size_t stride = spreading_stride(static_cast<std::uint32_t>(n));
  for (std::size_t turn = 0; turn + 1 < n; ++turn) {
    const std::size_t step = (first + turn) % (n - 1) + 1;
    for (std::size_t i = 0; i < n; ++i) {
      send(Hop{.from = static_cast<std::uint32_t>(i),
               .to = static_cast<std::uint32_t>((i + step * stride) % n)});
    }
  }
}

void add_pair(Plan& plan, Hop pair) {
  add(plan, pair, {.first = pair.from}, Arrival::replaces, Source::own);
}

}  // namespace

void add_direct_reduce_scatter(Plan& plan, const Group& group) {
  for_each_pair(group.size(), plan.first_peer, [&](Hop at) {
    const Member& peer = group[at.to];
    add(plan, {.from = group[at.from].rank, .to = peer.rank}, peer.part, Arrival::adds);
  });
}

void add_direct_all_gather(Plan& plan, const Group& group) {
  for_each_pair(group.size(), plan.first_peer, [&](Hop at) {
    const Member& self = group[at.from];
    add(plan, {.from = self.rank, .to = group[at.to].rank}, self.part);
  });
}

Plan all_reduce_one_shot(std::uint32_t ranks) {
  Plan plan{.collective = Collective::all_reduce, .ranks = ranks};
  begin_phase(plan);
  for_each_pair(ranks, 0, [&](Hop pair) { add(plan, pair, {}, Arrival::adds, Source::own); });
  return plan;
}

Plan all_to_all(std::uint32_t ranks) {
  SIM_ASSERT(ranks > 0);
  Plan plan{.collective = Collective::all_to_all, .ranks = ranks, .blocks = ranks};
  begin_phase(plan);
  plan.transfers.reserve(std::size_t{ranks} * (ranks - 1));
  for_each_pair(ranks, 0, [&](Hop pair) { add_pair(plan, pair); });
  return plan;
}

Plan all_to_all_uneven(std::uint32_t ranks, std::vector<std::int64_t> pair_bytes) {
  SIM_ASSERT(pair_bytes.size() == std::size_t{ranks} * ranks);
  Plan plan{.collective = Collective::all_to_all,
            .ranks = ranks,
            .blocks = ranks,
            .pair_bytes = std::move(pair_bytes)};
  begin_phase(plan);
  for_each_pair(ranks, 0, [&](Hop pair) {
    const std::int64_t size = plan.pair_bytes[std::size_t{pair.from} * ranks + pair.to];
    SIM_ASSERT(size >= 0);
    if (size > 0) add_pair(plan, pair);
  });
  return plan;
}

Plan broadcast_direct(std::uint32_t ranks, std::uint32_t root) {
  SIM_ASSERT(root < ranks);
  Plan plan{.collective = Collective::broadcast, .ranks = ranks, .root = root};
  begin_phase(plan);
  for (std::uint64_t step = 1; step < ranks; ++step) {
    const std::uint64_t peer = (root + step * spreading_stride(ranks)) % ranks;
    add(plan, {.from = root, .to = static_cast<std::uint32_t>(peer)}, {});
  }
  return plan;
}

Plan point_to_point(const PointToPoint& pair) {
  SIM_ASSERT(pair.from < pair.ranks && pair.to < pair.ranks);
  Plan plan{.collective = Collective::point_to_point,
            .ranks = pair.ranks,
            .root = pair.from,
            .target = pair.to};
  begin_phase(plan);
  if (pair.from != pair.to) add(plan, {.from = pair.from, .to = pair.to}, {});
  return plan;
}

}  // namespace weft
