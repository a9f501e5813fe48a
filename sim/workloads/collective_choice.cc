#include "sim/workloads/collective_choice.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "sim/core/assert.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

double seconds(Duration time) { return static_cast<double>(time.count()) * 1e-12; }
double rate(Bandwidth bandwidth) { return static_cast<double>(bandwidth.count()); }

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
  return cluster.spec.scale_up && cluster.spec.scale_up->shape == ShapeKind::fully_connected;
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
  loads.inside = (n - 1) / n / (group.one_node ? rings : 1);
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

// Two trees, each for half of the buffer: every rank is inside one of them.
Loads tree_loads(const Cluster& cluster, const RankGroup& group, bool there_and_back) {
  Loads loads;
  loads.inside = all_pairs(cluster) ? 0.5 : 1;
  if (group.nodes() > 1) loads.between = 1;
  loads.steps_inside = halvings(group.per_node);
  loads.steps_between = halvings(group.nodes());
  loads.channels = 1.5;
  return there_and_back ? times(loads, 2) : loads;
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
      return tree_loads(cluster, group, reduces_all);
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
  }
  SIM_ASSERT(false);
}

Duration path(const FabricSpec& fabric) {
  switch (fabric.shape) {
    case ShapeKind::switched:
      return fabric.link.latency * 2;
    case ShapeKind::fat_tree:
      return fabric.link.latency * 4;
    case ShapeKind::fully_connected:
    case ShapeKind::torus:  // a neighbour
      return fabric.link.latency;
  }
  SIM_ASSERT(false);
}

double wire_factor(Protocol protocol) {
  return protocol == Protocol::ll ? 2 : protocol == Protocol::ll128 ? 16.0 / 15 : 1;
}

}  // namespace

double predicted_time(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                      CollectiveChoice choice) {
  const ClusterSpec& spec = cluster.spec;
  const CollectiveSpec& library = spec.gpu.collective;
  const ProtocolSpec& protocol = library.protocols[static_cast<std::size_t>(choice.protocol)];
  const Loads loads = loads_of(cluster, call, group, choice.algorithm);
  const PlanCounts plans = count_plans(cluster, call, group, choice.algorithm);
  const double size = static_cast<double>(call.buffer.count()) * wire_factor(choice.protocol);

  Division division{.channels = channels_of(cluster, call), .chunks = 1};
  const bool in_turns = choice.algorithm != Algorithm::in_switch;
  if (in_turns && !is_exchange(call.op, choice.algorithm)) {
    division = divide(cluster, call, plans, choice);
  }
  double latency = seconds(protocol.step) * (loads.steps_inside + loads.steps_between);
  double links = 0;
  if (spec.scale_up) {
    latency += loads.steps_inside * seconds(path(*spec.scale_up));
    links = loads.inside * size /
            rate(in_turns ? spec.scale_up->link.bandwidth : spec.scale_up->in_switch_bandwidth);
  }
  if (!group.one_node) {
    const double nics = std::min(spec.nic->per_node, spec.gpus_per_node);
    const double of_rank = rate(spec.nic->bandwidth) *
                           (choice.algorithm == Algorithm::ring ? 1 : nics / group.per_node);
    latency += loads.steps_between * seconds(spec.nic->latency + spec.nic->receive +
                                             spec.nic->proxy_operation + path(*spec.scale_out));
    links = std::max(links, loads.between * size / std::max(of_rank, 1.0));
  }
  const double all_channels = division.channels * rate(library.channel_rate);
  const double channels = loads.channels * size / all_channels;
  links += loads.only_in * size / all_channels;
  // A channel waits in every step of every chunk; unless it is at one tree's other end meanwhile.
  const bool overlaps =
      choice.algorithm == Algorithm::tree || (in_turns && call.op == CollectiveOp::broadcast);
  const std::int64_t in_turn = division.chunks / division.slices;
  const auto chunks = static_cast<double>(in_turn);
  const double turns = overlaps ? 1 : chunks;
  const double fill = overlaps ? channels / chunks * static_cast<double>(plans.steps) : 0;
  return seconds(protocol.startup) + std::max(latency * turns + channels, latency + links) + fill;
}

namespace {

// Of the busiest rank, where 1 is the buffer, and over how many steps: as the library counts.
struct Counted {
  double carried = 0;
  double steps = 0;
};
Counted counted_by_library(CollectiveOp op, Algorithm algorithm, double n) {
  const bool all = op == CollectiveOp::all_reduce;
  if (algorithm == Algorithm::tree) return {.carried = 2, .steps = 2 * (n - 1)};  // a chain
  if (algorithm == Algorithm::in_switch) return {.carried = all ? (n - 1) / n : 1, .steps = 1};
  if (op == CollectiveOp::broadcast) return {.carried = 1, .steps = n};
  return {.carried = (all ? 2 : 1) * (n - 1) / n, .steps = (all ? 2 : 1) * (n - 1)};
}

// What the library itself reckons with; nothing where it has no such way, or between nodes.
std::optional<double> reckoned_time(const Cluster& cluster, const CollectiveCall& call,
                                    const RankGroup& group, CollectiveChoice choice) {
  const std::optional<CostTable>& costs = cluster.spec.gpu.collective.costs;
  if (!costs || !group.one_node) return std::nullopt;
  const CostSpec& cost = costs->at(static_cast<std::size_t>(choice.algorithm))
                             .at(static_cast<std::size_t>(choice.protocol));
  if (cost.bus.count() == 0) return std::nullopt;
  const Counted counted = counted_by_library(call.op, choice.algorithm, group.size());
  return seconds(cost.startup) + counted.steps * seconds(cost.step) +
         counted.carried * static_cast<double>(call.buffer.count()) / rate(cost.bus);
}

// An all-to-all is direct. Its small parts go with flags of their own, where the library says so.
CollectiveChoice exchange_choice(const Cluster& cluster, const CollectiveCall& call,
                                 const RankGroup& group) {
  CollectiveChoice choice{.algorithm = Algorithm::direct, .protocol = Protocol::simple};
  if (has_peer_parts(cluster, call, group)) {
    const std::int64_t to_peer = exchanged_bytes(call, group.size(), Algorithm::direct);
    const std::int64_t up_to = cluster.spec.gpu.collective.peer_parts->ll_up_to.count();
    if (to_peer <= up_to * peer_channels(cluster, call)) choice.protocol = Protocol::ll;
  }
  choice.protocol = call.options.protocol.value_or(choice.protocol);
  return choice;
}

}  // namespace

CollectiveChoice choose(const Cluster& cluster, const CollectiveCall& call,
                        const RankGroup& group) {
  const CollectiveOptions& options = call.options;
  if (call.op == CollectiveOp::all_to_all || call.op == CollectiveOp::point_to_point) {
    return exchange_choice(cluster, call, group);
  }
  const auto can = [&](Algorithm algorithm) {
    return exists(call.op, algorithm) &&
           (algorithm != Algorithm::in_switch || switch_reduces(cluster, group));
  };
  std::vector<Algorithm> algorithms;
  // A model has collectives of several kinds and groups: this one may not be done so.
  if (options.algorithm && can(*options.algorithm)) {
    algorithms = {*options.algorithm};
  } else {
    for (const Algorithm algorithm : cluster.spec.gpu.collective.algorithms) {
      if (can(algorithm)) algorithms.push_back(algorithm);
    }
    if (algorithms.empty()) algorithms = {Algorithm::ring};
  }
  CollectiveChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm algorithm : algorithms) {
    SIM_ASSERT(exists(call.op, algorithm));
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (options.protocol && *options.protocol != protocol) continue;
      if (algorithm == Algorithm::in_switch && protocol != Protocol::simple) continue;
      const CollectiveChoice choice{.algorithm = algorithm, .protocol = protocol};
      const double time = reckoned_time(cluster, call, group, choice)
                              .value_or(predicted_time(cluster, call, group, choice));
      if (time >= least) continue;
      least = time;
      best = choice;
    }
  }
  SIM_ASSERT(least < std::numeric_limits<double>::infinity());
  return best;
}

std::string text_of(CollectiveChoice choice) {
  return std::string(names::word(names::kAlgorithms, choice.algorithm)) + ", " +
         std::string(names::word(names::kProtocolWords, choice.protocol));
}

}  // namespace weft
