// A closed form for every way to run a collective: which of them are worth trying.

#include <algorithm>

#include "sim/collectives/collective_choice.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// What an algorithm asks of the links, where 1 is the buffer: bytes over the busiest link of a node
// and through the busiest NIC; and of the busiest rank's channels: bytes in or out, and those in
// while nothing, or less, goes out: then its links are idle.
struct Loads {
  double inside = 0;
  double between = 0;
  double channels = 0;
  double only_in = 0;
  double steps_inside = 0;
  double steps_between = 0;
};

bool all_pairs(const Cluster& cluster) {
  return cluster.spec.scale_up && cluster.spec.scale_up->topology->has_link_of_each_pair();
}

double halvings(std::int64_t n) {
  double steps = 0;
  for (std::int64_t reach = 1; reach < n; reach *= 2) ++steps;
  return steps;
}

// Everybody to everybody, 1/n of the buffer or, `whole`, all of it to each.
Loads direct_loads(const Cluster& cluster, const RankGroup& group, bool whole) {
  const double n = group.size();
  const double l = group.per_node;
  const double each = whole ? 1 : 1 / n;
  Loads loads;
  loads.inside = each * (all_pairs(cluster) ? 1 : l - 1);
  if (group.nodes() > 1) loads.between = each * (n - l);
  (group.nodes() > 1 ? loads.steps_between : loads.steps_inside) = 1;
  loads.channels = each * (n - 1);
  return loads;
}

Loads ring_loads(const Cluster& cluster, const RankGroup& group) {
  const double n = group.size();
  const auto rings = static_cast<double>(ring_orders(cluster, group).size());
  Loads loads;
  loads.inside = (n - 1) / n / (group.one_node || all_pairs(cluster) ? rings : 1);
  if (!group.one_node) loads.between = (n - 1) / n / rings;
  loads.steps_between = group.one_node ? 0 : (n - 1) * group.nodes() / n;
  loads.steps_inside = n - 1 - loads.steps_between;
  loads.channels = 1;  // the last arrival is taken in as well
  loads.only_in = 1 / n;
  return loads;
}

Loads& operator+=(Loads& a, const Loads& b) {
  a.inside += b.inside;
  a.between += b.between;
  a.channels += b.channels;
  a.steps_inside += b.steps_inside;
  a.steps_between += b.steps_between;
  return a;
}

Loads times(Loads loads, double factor) {
  loads.inside *= factor;
  loads.between *= factor;
  loads.channels *= factor;
  loads.steps_inside *= factor;
  loads.steps_between *= factor;
  return loads;
}

Loads halving_loads(const RankGroup& group) {
  const double n = group.size();
  Loads loads;
  loads.inside = (n - 1) / n;
  if (group.nodes() > 1) loads.between = 1 - 1.0 / group.nodes();
  loads.steps_inside = halvings(group.per_node);
  loads.steps_between = halvings(group.nodes());
  loads.channels = (n - 1) / n;
  return loads;
}

// Two binary trees, each for half of the buffer: every rank is inside one of them.
Loads broadcast_tree_loads(const Cluster& cluster, const RankGroup& group) {
  Loads loads;
  loads.inside = all_pairs(cluster) ? 0.5 : 1;
  if (group.nodes() > 1) loads.between = 1;
  loads.steps_inside = halvings(group.per_node);
  loads.steps_between = halvings(group.nodes());
  loads.channels = 1.5;
  return loads;
}

// Up and down chains, whose heads are trees. A head inside a tree of nodes takes in and passes on
// three, or, where there are two nodes, two.
Loads tree_loads(const Cluster& cluster, const RankGroup& group, std::int64_t plans) {
  const double l = group.per_node;
  const double inside_node = group.nodes() > 2 ? 3 : group.nodes();
  Loads loads;
  loads.inside = all_pairs(cluster) ? 2 / l : 2 * (l - 1) / l;
  if (group.nodes() > 1) {
    loads.between = (group.nodes() > 2 ? 4.0 : 2.0) / static_cast<double>(plans);
  }
  loads.steps_inside = 2 * (l - 1);
  loads.steps_between = 2 * halvings(group.nodes());
  loads.channels = 2 * inside_node;
  return loads;
}

Loads loads_of(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
               Algorithm algorithm) {
  const bool reduces_all = call.op == CollectiveOp::all_reduce;
  const double n = group.size();
  switch (algorithm) {
    case Algorithm::direct: {
      if (call.op == CollectiveOp::point_to_point) {
        return {.inside = 1,
                .between = group.one_node ? 0.0 : 1.0,
                .channels = 1,
                .steps_inside = group.one_node ? 1.0 : 0.0,
                .steps_between = group.one_node ? 0.0 : 1.0};
      }
      Loads loads = direct_loads(cluster, group, call.op == CollectiveOp::broadcast);
      const Loads again = loads;
      if (call.op == CollectiveOp::reduce_scatter) loads.channels *= 2;
      if (reduces_all) {  // the first of the second phase takes in what has come
        loads += again;
        loads.channels += (n - 2) / n;
        loads.only_in = (n - 2) / n;
      }
      return loads;
    }
    case Algorithm::one_shot: {
      Loads loads = direct_loads(cluster, group, true);
      loads.channels *= 2;
      return loads;
    }
    case Algorithm::ring: {
      Loads loads = ring_loads(cluster, group);
      if (call.op == CollectiveOp::broadcast) loads = times(loads, n / (n - 1));
      if (reduces_all) {
        loads = times(loads, 2);
        loads.channels = (2 * n - 1) / n;
        loads.only_in = 1 / n;
      }
      return loads;
    }
    case Algorithm::tree:
      if (!reduces_all) return broadcast_tree_loads(cluster, group);
      return tree_loads(cluster, group, count_plans(cluster, call, group, algorithm).plans);
    case Algorithm::halving_doubling:
      return times(halving_loads(group), reduces_all ? 2 : 1);
    case Algorithm::hierarchical: {
      const double l = group.per_node;
      const double m = group.nodes();
      Loads loads;
      loads.inside = 2 / l * (all_pairs(cluster) ? 1 : l - 1);
      loads.between = 2 * (m - 1) / m / l;
      loads.channels = 3 * (l - 1) / l + 2 * (m - 1) / m / l;
      loads.only_in = (l - 1) / l;
      loads.steps_inside = 2;
      loads.steps_between = 2 * (m - 1);
      return loads;
    }
    case Algorithm::in_switch: {
      Loads loads;
      loads.inside = reduces_all ? 1 + 1 / n : 1;
      loads.channels = call.op == CollectiveOp::broadcast ? 1 : 1 / n;
      // Ready, loaded, stored.
      loads.steps_inside =
          1 + (reduces(call.op) ? 1 : 0) + (call.op == CollectiveOp::reduce_scatter ? 0 : 1);
      return loads;
    }
    case Algorithm::in_switch_tree: {
      const double l = group.per_node;
      Loads loads;
      loads.inside = 1 + 1 / l;
      loads.between = (group.nodes() > 2 ? 2 : 1) / l;  // of two trees, half in each
      loads.channels = 2 / l;
      loads.steps_inside = 3;
      loads.steps_between = 2 * halvings(group.nodes());
      return loads;
    }
  }
  SIM_ASSERT(false);
}

Duration path(const FabricSpec& fabric) {
  return fabric.link.latency * fabric.topology->hops_of_step();
}

double wire_factor(Protocol protocol) {
  return protocol == Protocol::ll ? 2 : protocol == Protocol::ll128 ? 16.0 / 15 : 1;
}

// What a channel passes on alone, of payload.
double channel_rate(const Cluster& cluster, const CollectiveCall& call, Protocol which) {
  const CollectiveSpec& library = cluster.spec.gpu.collective;
  const ProtocolSpec& protocol = library.protocols[static_cast<std::size_t>(which)];
  const Bandwidth own = protocol.relay_rate.count() > 0 ? protocol.relay_rate : protocol.rate;
  if (own.count() == 0) return to_bytes_per_second(library.channel_rate) / wire_factor(which);
  return to_bytes_per_second(own) * (reduces(call.op) ? 1 : protocol.of_bytes);
}

// Messages that the busiest GPU has posted, and the channels that it copies by.
struct Cut {
  double channels = 1;
  double chunks = 1;  // one after another
  double slices = 1;  // of each
  double posted = 0;
};
Cut cut(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
        CollectiveChoice choice, const PlanCounts& plans) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const std::int64_t channels = channels_of(cluster, call);
  Cut cut{.channels = real(channels), .chunks = 1, .slices = 1, .posted = 0};
  if (choice.algorithm == Algorithm::in_switch) return cut;
  if (choice.algorithm == Algorithm::in_switch_tree) {
    cut.chunks = real(in_switch_tree_turns(cluster, call, group));
    return cut;
  }
  if (is_exchange(call.op, choice.algorithm)) {
    if (group.one_node) return cut;
    const std::int64_t each = exchanged_bytes(call, group.size(), choice.algorithm);
    const std::int64_t peers = std::max<std::int64_t>(group.size() - 1, 1);
    const Pieces pieces = cut_for_peer(each, peers, channels, cluster.spec.gpu.collective.chunk);
    cut.posted = real((std::int64_t{group.size()} - group.per_node) * pieces.pieces);
    return cut;
  }
  const Division division = divide(cluster, call, group, plans, choice);
  return {.channels = real(division.channels),
          .chunks = real(division.chunks / division.slices),
          .slices = real(division.slices),
          .posted = division.posted};
}

// Of the GPUs that a NIC is for, those that send between nodes at one time: all; but of a ring only
// the one that it leaves a node by.
double senders_on_a_nic(const Cluster& cluster, const RankGroup& group, Algorithm algorithm) {
  const double all = group.on_a_nic;
  if (algorithm != Algorithm::ring) return all;
  const auto rings = static_cast<double>(ring_orders(cluster, group).size());
  return std::max(1.0, all * std::min(1.0, rings / group.per_node));
}

}  // namespace

double predicted_time(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                      CollectiveChoice choice) {
  const ClusterSpec& spec = cluster.spec;
  const Algorithm algorithm = choice.algorithm;
  const ProtocolSpec& protocol =
      spec.gpu.collective.protocols[static_cast<std::size_t>(choice.protocol)];
  const Loads loads = loads_of(cluster, call, group, algorithm);
  const PlanCounts plans = count_plans(cluster, call, group, algorithm);
  const Cut by = cut(cluster, call, group, choice, plans);
  const auto buffer = static_cast<double>(call.buffer.count());
  const double size = buffer * wire_factor(choice.protocol);

  double latency = to_seconds(protocol.step) * (loads.steps_inside + loads.steps_between);
  double inside = 0;
  double between = 0;
  if (spec.scale_up) {
    const bool in_switch =
        algorithm == Algorithm::in_switch || algorithm == Algorithm::in_switch_tree;
    latency += loads.steps_inside * to_seconds(path(*spec.scale_up));
    inside = loads.inside * size /
             to_bytes_per_second(in_switch ? in_switch_rate(*spec.scale_up)
                                           : spec.scale_up->link.bandwidth);
  }
  if (!group.one_node) {
    const double of_rank =
        to_bytes_per_second(spec.nic->bandwidth) / senders_on_a_nic(cluster, group, algorithm);
    latency += loads.steps_between *
               to_seconds(spec.nic->latency + spec.nic->receive + spec.nic->proxy_operation +
                          protocol.handover + path(*spec.scale_out));
    between =
        std::max(loads.between * size / of_rank, by.posted * to_seconds(spec.nic->proxy_operation));
  }
  const double through_channels =
      buffer / (by.channels * channel_rate(cluster, call, choice.protocol));
  const double channels = loads.channels * through_channels;
  const double only_in = loads.only_in * through_channels;
  const double links = std::max(inside, between) + only_in;
  const double startup = to_seconds(
      startup_of(spec.gpu.collective, protocol.startup, static_cast<std::int64_t>(by.channels)));
  // Phases over different links that follow one another, chunk by chunk.
  if (algorithm == Algorithm::hierarchical) {
    const double first = (inside + between + channels) / by.chunks;
    return startup + latency + first + std::max(links, channels) * (1 - 1 / by.chunks);
  }
  // A channel waits in every step of every chunk; unless it is at one tree's other end meanwhile.
  const bool overlaps = algorithm == Algorithm::tree || algorithm == Algorithm::in_switch_tree ||
                        (algorithm != Algorithm::in_switch && call.op == CollectiveOp::broadcast);
  const double turns = overlaps ? 1 : by.chunks;
  const double fill =
      overlaps ? through_channels / by.chunks * static_cast<double>(plans.steps) : 0;
  // While one slice is on its way the next is copied.
  const double stepping = std::max(channels, latency * turns + channels / by.slices);
  return startup + std::max(stepping, latency + links) + fill;
}

}  // namespace weft
