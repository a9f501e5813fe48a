// Reduce-scatter, all-gather and all-reduce by any scheme.
#include <bit>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"
#include "sim/plans/plan_parts.h"

namespace weft {
namespace {

// Block r belongs to rank r.
Group by_rank(const RankOrder& order) {
  Group group;
  for (const std::uint32_t rank : order) {
    group.push_back({.rank = rank, .part = {.first = rank, .blocks = 1}});
  }
  return group;
}

Plan begin(Collective collective, const RankOrder& order, std::uint32_t blocks) {
  Plan plan{.collective = collective,
            .ranks = static_cast<std::uint32_t>(order.size()),
            .blocks = blocks};
  begin_phase(plan);
  return plan;
}

// Halving: the ranks that are left after the others are folded in, a power of two.

Group sharing(Scheme scheme, const SharedBlocks& shared) {
  const auto n = static_cast<std::uint32_t>(shared.ranks.size());
  const std::uint32_t parts = blocks_to_share(scheme, n);
  const std::uint32_t pairs = n - parts;
  Group group;
  for (std::uint32_t i = 0; i < parts; ++i) {
    group.push_back({.rank = shared.ranks[i < pairs ? 2 * i : i + pairs],
                     .part = {.first = shared.first_block + i, .blocks = 1}});
  }
  return group;
}

}  // namespace

void add_reduce_scatter(Plan& plan, Scheme scheme, const Group& group) {
  switch (scheme) {
    case Scheme::ring:
      return add_ring_reduce_scatter(plan, group);
    case Scheme::direct:
      return add_direct_reduce_scatter(plan, group);
    case Scheme::halving:
      return add_halving_reduce_scatter(plan, group);
  }
}

void add_all_gather(Plan& plan, Scheme scheme, const Group& group) {
  switch (scheme) {
    case Scheme::ring:
      return add_ring_all_gather(plan, group);
    case Scheme::direct:
      return add_direct_all_gather(plan, group);
    case Scheme::halving:
      return add_doubling_all_gather(plan, group);
  }
}

std::uint32_t blocks_to_share(Scheme scheme, std::uint32_t ranks) {
  return scheme == Scheme::halving ? std::bit_floor(ranks) : ranks;
}

void add_reduce_half(Plan& plan, Scheme scheme, const SharedBlocks& shared) {
  const Group group = sharing(scheme, shared);
  const BlockRange all{shared.first_block, static_cast<std::uint32_t>(group.size())};
  for (std::size_t pair = 0; pair < shared.ranks.size() - group.size(); ++pair) {
    add(plan, {.from = shared.ranks[2 * pair + 1], .to = shared.ranks[2 * pair]}, all,
        Arrival::adds);
  }
  add_reduce_scatter(plan, scheme, group);
}

void add_gather_half(Plan& plan, Scheme scheme, const SharedBlocks& shared) {
  const Group group = sharing(scheme, shared);
  const BlockRange all{shared.first_block, static_cast<std::uint32_t>(group.size())};
  add_all_gather(plan, scheme, group);
  for (std::size_t pair = 0; pair < shared.ranks.size() - group.size(); ++pair) {
    add(plan, {.from = shared.ranks[2 * pair], .to = shared.ranks[2 * pair + 1]}, all);
  }
}

Plan all_gather(Scheme scheme, const RankOrder& order) {
  Plan plan = begin(Collective::all_gather, order, static_cast<std::uint32_t>(order.size()));
  add_all_gather(plan, scheme, by_rank(order));
  return plan;
}

Plan reduce_scatter(Scheme scheme, const RankOrder& order) {
  Plan plan = begin(Collective::reduce_scatter, order, static_cast<std::uint32_t>(order.size()));
  add_reduce_scatter(plan, scheme, by_rank(order));
  return plan;
}

Plan all_reduce(Scheme scheme, const RankOrder& order, std::uint32_t first_peer) {
  const SharedBlocks shared{.ranks = order, .first_block = 0};
  Plan plan = begin(Collective::all_reduce, order,
                    blocks_to_share(scheme, static_cast<std::uint32_t>(order.size())));
  plan.first_peer = first_peer;
  add_reduce_half(plan, scheme, shared);
  begin_phase(plan);
  add_gather_half(plan, scheme, shared);
  return plan;
}

Plan scheme_plan(CollectiveOp op, Scheme scheme, const RankOrder& order) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return all_reduce(scheme, order);
    case CollectiveOp::all_gather:
      return all_gather(scheme, order);
    case CollectiveOp::reduce_scatter:
      return reduce_scatter(scheme, order);
    case CollectiveOp::all_to_all:
    case CollectiveOp::broadcast:
    case CollectiveOp::point_to_point:
      break;
  }
  SIM_ASSERT(false);
}

}  // namespace weft
