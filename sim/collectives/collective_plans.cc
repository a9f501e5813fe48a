// Which plans a call is run by, over which ranks, and how it is cut.

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/collectives/collective_choice.h"

namespace weft {
namespace {

// The grid whose endpoints are these ranks; empty where they do not fill one.
std::vector<int> filled_grid(const ClusterSpec& spec, const RankGroup& group) {
  const auto whole = [&](const FabricSpec& fabric, int endpoints) {
    const std::uint32_t n = group.size();
    return n == static_cast<std::uint32_t>(endpoints) && n > 2 ? fabric.topology->grid()
                                                               : std::vector<int>();
  };
  if (group.one_node)
    return spec.scale_up ? whole(*spec.scale_up, spec.gpus_per_node) : std::vector<int>();
  const bool endpoints = group.per_node == 1 && spec.gpus_per_node == 1 && spec.nic->per_node == 1;
  return endpoints ? whole(*spec.scale_out, spec.nodes) : std::vector<int>();
}

}  // namespace

PlanRequest plan_request(const Cluster& cluster, const CollectiveCall& call,
                         const RankGroup& group) {
  const ClusterSpec& spec = cluster.spec;
  PlanRequest request{.op = call.op,
                      .ranks = group.size(),
                      .planned = call.turns > 1 ? group.size() / call.turns : 0,
                      .per_node = group.per_node,
                      .nics = spec.nic ? static_cast<std::uint32_t>(spec.nic->per_node) : 0,
                      .grid = filled_grid(spec, group),
                      .root = call.root,
                      .target = call.target,
                      .pair_bytes = call.pair_bytes};
  if (spec.scale_up) {
    const TopologySpec& inside = *spec.scale_up->topology;
    request.link_of_each_pair = inside.has_link_of_each_pair();
    request.in_a_grid = !inside.grid().empty();
    request.switch_adds = inside.sums_on_the_way().can;
  }
  return request;
}

std::vector<Plan> plans_of(const Cluster& cluster, const CollectiveCall& call,
                           const RankGroup& group, Algorithm algorithm) {
  return spec_of(algorithm).plans(plan_request(cluster, call, group));
}

PlanCounts count_plans(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                       Algorithm algorithm) {
  return spec_of(algorithm).counts(plan_request(cluster, call, group));
}

bool is_possible(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                 Algorithm algorithm) {
  return exists(call.op, algorithm) &&
         spec_of(algorithm).possible(plan_request(cluster, call, group));
}

bool is_exchange(CollectiveOp op, Algorithm algorithm) {
  return spec_of(algorithm).one_step.has(op);
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

Duration startup_of(const CollectiveSpec& library, const ProtocolSpec& protocol,
                    const RankGroup& group, std::int64_t channels) {
  const bool of_two = group.one_node && group.gpus.size() == 2;
  const Duration startup =
      of_two ? fraction_of(protocol.startup, protocol.of_two) : protocol.startup;
  return startup_of(library, startup, channels);
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
