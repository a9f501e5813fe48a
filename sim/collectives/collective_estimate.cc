// A closed form for every way to run a collective, to find those worth trying.

#include <algorithm>

#include "sim/collectives/collective_choice.h"

namespace weft {
namespace {

Duration path(const FabricSpec& fabric) {
  return fabric.link.latency * fabric.topology->hops_of_step();
}

double wire_factor(Protocol protocol) {
  return protocol == Protocol::ll ? 2 : protocol == Protocol::ll128 ? 16.0 / 15 : 1;
}

// The rate of payload that a channel passes on alone.
double channel_rate(const Cluster& cluster, const CollectiveCall& call, Protocol which) {
  const CollectiveSpec& library = cluster.spec.gpu.collective;
  const ProtocolSpec& protocol = library.protocols[static_cast<std::size_t>(which)];
  const Bandwidth own = protocol.relay_rate.count() > 0 ? protocol.relay_rate : protocol.rate;
  if (own.count() == 0) return to_bytes_per_second(library.channel_rate) / wire_factor(which);
  return to_bytes_per_second(own) * (reduces(call.op) ? 1 : protocol.of_bytes);
}

// The channels by which the busiest GPU copies, and the messages that are posted for it.
struct Cut {
  double channels = 1;
  double chunks = 1;  // one after another
  double slices = 1;  // of each
  double posted = 0;
};
Cut cut(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
        CollectiveChoice choice, const PlanCounts& plans) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const Carrier carrier = row_of(choice.algorithm).carrier;
  const std::int64_t channels = channels_of(cluster, call);
  Cut cut{.channels = real(channels), .chunks = 1, .slices = 1, .posted = 0};
  if (carrier == Carrier::one_switch) return cut;
  if (carrier == Carrier::several_switches) {
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

}  // namespace

double predicted_time(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                      CollectiveChoice choice) {
  const ClusterSpec& spec = cluster.spec;
  const ProtocolSpec& protocol =
      spec.gpu.collective.protocols[static_cast<std::size_t>(choice.protocol)];
  const PlanRequest request = plan_request(cluster, call, group);
  const Loads loads = spec_of(choice.algorithm).loads(request);
  const PlanCounts plans = spec_of(choice.algorithm).counts(request);
  const Cut by = cut(cluster, call, group, choice, plans);
  const auto buffer = static_cast<double>(call.buffer.count());
  const double size = buffer * wire_factor(choice.protocol);

  double latency = to_seconds(protocol.step) * (loads.steps_inside + loads.steps_between);
  double inside = 0;
  double between = 0;
  if (spec.scale_up) {
    latency += loads.steps_inside * to_seconds(path(*spec.scale_up));
    inside = loads.inside * size /
             to_bytes_per_second(by_switches(choice.algorithm) ? in_switch_rate(*spec.scale_up)
                                                               : spec.scale_up->link.bandwidth);
  }
  if (!group.one_node) {
    const double senders = std::max(1.0, group.on_a_nic * loads.senders);
    const double of_rank = to_bytes_per_second(spec.nic->bandwidth) / senders;
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
      startup_of(spec.gpu.collective, protocol, group, static_cast<std::int64_t>(by.channels)));
  // Phases over different links that follow one another, chunk by chunk.
  if (plans.flow == Flow::levels) {
    const double first = (inside + between + channels) / by.chunks;
    return startup + latency + first + std::max(links, channels) * (1 - 1 / by.chunks);
  }
  // A channel waits in every step of every chunk; not in a pipeline, where it has other work then.
  const bool overlaps = plans.flow == Flow::pipeline;
  const double turns = overlaps ? 1 : by.chunks;
  const double fill =
      overlaps ? through_channels / by.chunks * static_cast<double>(plans.steps) : 0;
  // While one slice is on its way the next is copied.
  const double stepping = std::max(channels, latency * turns + channels / by.slices);
  return startup + std::max(stepping, latency + links) + fill;
}

}  // namespace weft
