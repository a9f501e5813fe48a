// Which plans a call is run by, over which ranks, and how it is cut.

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "sim/collectives/collective_choice.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// Each has a copy of the plan, of n^2 transfers.
constexpr std::uint32_t kMostPlans = 16;

// The way through a whole grid and, as its links go both ways, back.
std::vector<RankOrder> both_ways(const std::vector<int>& dims) {
  const RankOrder there = snake_order(dims);
  const RankOrder back(there.rbegin(), there.rend());
  return {there, back};
}

bool is_whole_grid(const FabricSpec& fabric, std::uint32_t ranks, std::uint32_t endpoints) {
  return ranks == endpoints && ranks > 2 && !fabric.topology->grid().empty();
}

Wiring wiring_of(const Cluster& cluster) {
  const auto& fabric = cluster.spec.scale_up;
  const bool pairs = fabric && fabric->topology->has_link_of_each_pair();
  return pairs ? Wiring::all_pairs : Wiring::shared;
}

Scheme inside_of(const Cluster& cluster) {
  const auto& fabric = cluster.spec.scale_up;
  return fabric && !fabric->topology->grid().empty() ? Scheme::ring : Scheme::direct;
}

// Where each pair has a link of its own, channels that all began with the same peer would leave
// the other links idle.
std::uint32_t direct_plans(const Cluster& cluster, const RankGroup& group) {
  const bool pairs = wiring_of(cluster) == Wiring::all_pairs && group.per_node > 1;
  return pairs ? std::min(group.per_node - 1, kMostPlans) : 1;
}

// So many of the ways through a node's GPUs, far apart.
std::vector<RankOrder> some_ways(const Cluster& cluster, std::uint32_t ranks, std::uint32_t count) {
  const std::vector<RankOrder> all = ways_through(ranks, wiring_of(cluster));
  std::vector<RankOrder> some;
  for (std::uint32_t i = 0; i < count; ++i) some.push_back(all[i * ranks / count]);
  return some;
}

// Each tree leaves the nodes by another GPU. Of several nodes those that are inside one tree are
// leaves of the other.
std::uint32_t tree_ways(const RankGroup& group) {
  return std::min(group.per_node, group.nodes() == 1 ? kMostPlans : kMostPlans / 2);
}

std::vector<Plan> tree_plans(const Cluster& cluster, const RankGroup& group) {
  std::vector<RankOrder> nodes{identity_order(group.nodes())};
  if (group.nodes() > 1) nodes = tree_orders(group.nodes());
  std::vector<Plan> plans;
  for (const RankOrder& way : some_ways(cluster, group.per_node, tree_ways(group))) {
    for (const RankOrder& order : nodes) {
      plans.push_back(all_reduce_tree(tree_of_chains(order, way)));
    }
  }
  return plans;
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

Plan direct_plan(const CollectiveCall& call, std::uint32_t n) {
  switch (call.op) {
    case CollectiveOp::all_to_all:
      return call.pair_bytes.empty() ? all_to_all(n) : all_to_all_uneven(n, call.pair_bytes);
    case CollectiveOp::broadcast:
      return broadcast_direct(n, call.root);
    case CollectiveOp::point_to_point:
      return point_to_point({.ranks = n, .from = call.root, .to = call.target});
    case CollectiveOp::all_reduce:
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
      return scheme_plan(call.op, Scheme::direct, identity_order(n));
  }
  SIM_ASSERT(false);
}

}  // namespace

std::vector<RankOrder> ring_orders(const Cluster& cluster, const RankGroup& group) {
  const ClusterSpec& spec = cluster.spec;
  const std::uint32_t n = group.size();
  if (group.one_node) {
    const auto all = static_cast<std::uint32_t>(spec.gpus_per_node);
    if (is_whole_grid(*spec.scale_up, n, all)) return both_ways(spec.scale_up->topology->grid());
    return rings(n, wiring_of(cluster));
  }
  if (group.per_node == 1) {
    const bool endpoints = spec.gpus_per_node == 1 && spec.nic->per_node == 1;
    const auto all = static_cast<std::uint32_t>(spec.nodes);
    if (endpoints && is_whole_grid(*spec.scale_out, n, all)) {
      return both_ways(spec.scale_out->topology->grid());
    }
    return {identity_order(n)};
  }
  // Each ring leaves the nodes by another NIC.
  const std::uint32_t l = group.per_node;
  const std::uint32_t count = std::min(l, static_cast<std::uint32_t>(spec.nic->per_node));
  std::vector<RankOrder> orders;
  for (const RankOrder& way : some_ways(cluster, l, count)) {
    RankOrder& order = orders.emplace_back();
    for (std::uint32_t rank = 0; rank < n; ++rank) order.push_back(rank / l * l + way[rank % l]);
  }
  return orders;
}

std::vector<Plan> plans_of(const Cluster& cluster, const CollectiveCall& call,
                           const RankGroup& group, Algorithm algorithm) {
  const std::uint32_t n = group.size();
  const bool from_root = call.op == CollectiveOp::broadcast;
  std::vector<Plan> plans;
  switch (algorithm) {
    case Algorithm::direct:
      if (call.op != CollectiveOp::all_reduce) {
        plans.push_back(direct_plan(call, n));
        break;
      }
      for (std::uint32_t i = 0; i < direct_plans(cluster, group); ++i) {
        plans.push_back(all_reduce(Scheme::direct, identity_order(n), i));
      }
      break;
    case Algorithm::one_shot:
      plans.push_back(all_reduce_one_shot(n));
      break;
    case Algorithm::ring:
      for (const RankOrder& order : ring_orders(cluster, group)) {
        plans.push_back(from_root ? broadcast_ring(order, call.root)
                                  : scheme_plan(call.op, Scheme::ring, order));
      }
      break;
    case Algorithm::tree:
      if (!from_root) return tree_plans(cluster, group);
      for (const RankOrder& order : tree_orders(n)) {
        plans.push_back(broadcast_tree(order, call.root));
      }
      break;
    case Algorithm::halving_doubling:
      plans.push_back(scheme_plan(call.op, Scheme::halving, identity_order(n)));
      break;
    case Algorithm::hierarchical:
      for (std::uint32_t i = 0; i < direct_plans(cluster, group); ++i) {
        plans.push_back(all_reduce_hierarchical({.ranks = n,
                                                 .ranks_per_node = group.per_node,
                                                 .inside = inside_of(cluster),
                                                 .between = Scheme::ring,
                                                 .first_peer = i}));
      }
      break;
    case Algorithm::in_switch:
    case Algorithm::in_switch_tree:
      SIM_ASSERT(false);  // steps of switches: collective_in_switch.cc, ..._in_switch_tree.cc
  }
  return plans;
}

PlanCounts count_plans(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                       Algorithm algorithm) {
  const std::int64_t n = group.size();
  const std::int64_t pairs = n * (n - 1);
  const std::int64_t phases = call.op == CollectiveOp::all_reduce ? 2 : 1;
  const bool from_root =
      call.op == CollectiveOp::broadcast || call.op == CollectiveOp::point_to_point;
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const auto depth = [](std::int64_t ranks) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(ranks) - 1));
  };
  switch (algorithm) {
    case Algorithm::direct:
      if (from_root) {
        const std::int64_t peers = call.op == CollectiveOp::broadcast ? n - 1 : 1;
        return {.transfers = peers, .busiest_rank = peers, .sent = real(peers)};
      }
      return {.plans = phases == 2 ? direct_plans(cluster, group) : 1,
              .blocks = n,
              .transfers = phases * pairs,
              .busiest_rank = phases * (n - 1) + 1,
              .steps = phases,
              .sent = real(phases * (n - 1))};
    case Algorithm::one_shot:
      return {.transfers = pairs, .busiest_rank = n, .sent = real(pairs)};
    case Algorithm::ring: {
      const auto rings = static_cast<std::int64_t>(ring_orders(cluster, group).size());
      if (from_root) {
        return {.plans = rings,
                .transfers = n - 1,
                .busiest_rank = 2,
                .steps = n - 1,
                .sent = real(n - 1)};
      }
      return {.plans = rings,
              .blocks = n,
              .transfers = phases * pairs,
              .busiest_rank = phases * (n - 1) + 1,
              .steps = phases * (n - 1),
              .sent = real(phases * (n - 1))};
    }
    case Algorithm::tree: {
      if (from_root) {
        return {.plans = 2,
                .transfers = n - 1,
                .busiest_rank = 4,
                .steps = depth(n),
                .sent = real(n - 1)};
      }
      const std::int64_t m = group.nodes();
      return {.plans = std::int64_t{tree_ways(group)} * (m > 1 ? 2 : 1),
              .transfers = 2 * (n - 1),
              .busiest_rank = 5,
              .steps = 2 * (group.per_node - 1 + depth(m)),
              .sent = real(2 * (n - 1))};
    }
    case Algorithm::halving_doubling: {
      const std::int64_t shared = phases == 2 ? std::int64_t{std::bit_floor(group.size())} : n;
      return {.blocks = shared,
              .transfers = phases * 2 * shared * depth(shared) + 2 * (n - shared),
              .busiest_rank = phases * (2 * depth(shared) + 1) + 1,
              .steps = phases * depth(n),
              .sent = real(phases * (n - 1) + 2 * (n - shared))};
    }
    case Algorithm::hierarchical: {
      const std::int64_t l = group.per_node;
      const std::int64_t m = group.nodes();
      return {.plans = direct_plans(cluster, group),
              .blocks = n,
              .transfers = 2 * m * l * (l - 1) + 2 * l * m * (m - 1),
              .busiest_rank = 2 * (l - 1) + 2 * (m - 1) + 1,
              .steps = 2 * (m - 1) + 2,
              .sent = real(2 * m * (l - 1) + 2 * (m - 1))};
    }
    case Algorithm::in_switch:
      return {.blocks = from_root ? 1 : n};
    case Algorithm::in_switch_tree:
      return {.plans = 2, .blocks = group.per_node, .steps = 2 * depth(group.nodes()) + 3};
  }
  SIM_ASSERT(false);
}

bool switch_reduces(const Cluster& cluster, const RankGroup& group) {
  const auto& fabric = cluster.spec.scale_up;
  return group.one_node && fabric && fabric->topology->sums_on_the_way().can;
}

bool switches_reduce(const Cluster& cluster, const RankGroup& group) {
  const auto& fabric = cluster.spec.scale_up;
  return !group.one_node && group.per_node > 1 && fabric && fabric->topology->sums_on_the_way().can;
}

bool is_exchange(CollectiveOp op, Algorithm algorithm) {
  if (algorithm == Algorithm::one_shot) return true;
  return algorithm == Algorithm::direct && op != CollectiveOp::all_reduce;
}

std::uint32_t channels_of(const Cluster& cluster, const CollectiveCall& call) {
  const GpuSpec& gpu = cluster.spec.gpu;
  const WgShape& channel = gpu.collective.channel;
  const WgFootprint wg =
      footprint(channel.threads, channel.registers_per_thread, channel.lds, gpu.wave_size);
  const int fit = wgs_per_cu(gpu.cu, wg) * cus_in(call.cus, gpu.cus);
  const int wanted = call.options.channels > 0 ? call.options.channels : gpu.collective.channels;
  return static_cast<std::uint32_t>(std::max(std::min(wanted, fit), 1));
}

std::uint32_t peer_channels(const Cluster& cluster, const CollectiveCall& call) {
  CollectiveCall most = call;
  const std::uint32_t few = channels_of(cluster, call);
  most.options.channels = static_cast<int>(std::bit_ceil(few));
  const std::uint32_t fit = channels_of(cluster, most);
  return fit == std::bit_ceil(few) ? fit : std::bit_floor(fit);
}

Duration startup_of(const CollectiveSpec& library, Duration startup, std::int64_t channels) {
  const std::int64_t several = std::max<std::int64_t>(channels, 1);
  return startup + Duration::from_count(library.spread.count() / several * (several - 1));
}

bool has_peer_parts(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group) {
  return cluster.spec.gpu.collective.peer_parts && group.one_node &&
         (call.op == CollectiveOp::all_to_all || call.op == CollectiveOp::point_to_point);
}

std::int64_t parts_of_peer(const Cluster& cluster, const CollectiveCall& call, std::int64_t ranks,
                           std::int64_t size) {
  const PeerPartSpec& spec = *cluster.spec.gpu.collective.peer_parts;
  const std::int64_t all = peer_channels(cluster, call);
  std::int64_t most = all;
  while (most * ranks > all && most > 1) most /= 2;
  const bool ll = choose(cluster, call, group_of(cluster, call)).protocol == Protocol::ll;
  std::int64_t parts = std::min(most, round_up(size, (ll ? spec.least_ll : spec.least).count()));
  while (round_up(size, parts) > spec.most.count() && parts <= all / 2) parts *= 2;
  return parts;
}

}  // namespace weft
