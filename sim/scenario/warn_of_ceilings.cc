// What a link has that nothing can use, because a number measured with slower links stands in its
// way: said, not refused.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

// What was measured and what it was measured over differ by less.
constexpr double kSame = 1.1;

double rate(Bandwidth bandwidth) { return static_cast<double>(bandwidth.count()); }
std::string text_of(double bytes_per_second) {
  return fmt::format("{:.4g} GB/s", bytes_per_second * 1e-9);
}

// The uplinks of a leaf that has fewer of them than ports down are another limit.
void a_nic_is_as_fast_as_its_link(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.nic || !cluster.scale_out || cluster.nodes < 2) return;
  const FabricSpec& fabric = *cluster.scale_out;
  const double link = rate(fabric.link.bandwidth);
  const double nic = rate(cluster.nic->bandwidth);
  const bool tree = fabric.shape == ShapeKind::fat_tree;
  if (link > nic * kSame * (tree ? std::max(1.0, fabric.oversubscription) : 1)) {
    check.warn("cluster.scale_out.link.bandwidth",
               text_of(link) + ", but a NIC sends and receives " + text_of(nic) +
                   " (cluster.nic.bandwidth), which is then the limit");
  }
}

// What leaves a GPU by all its links of the node.
double links_of_gpu(const ClusterSpec& cluster) {
  const FabricSpec& fabric = *cluster.scale_up;
  const double link = rate(fabric.link.bandwidth);
  switch (fabric.shape) {
    case ShapeKind::fully_connected:
      return link * (cluster.gpus_per_node - 1);
    case ShapeKind::torus:
      return link * 2 * static_cast<double>(fabric.dims.size());
    case ShapeKind::switched:
    case ShapeKind::fat_tree:
      break;
  }
  return link;
}

bool by_channels(const Check& check) {
  const bool kernels = check.has(Mode::bulk) || check.has(Mode::kernel);
  const bool c3 = check.scenario.workload.kind == WorkloadKind::c3;
  return (kernels || c3) && check.scenario.collective.executor == CollectiveExecutor::cu &&
         check.scenario.collective.channels == 0;  // else so few are wanted
}

void channels_fill_the_links(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.scale_up || !by_channels(check)) return;
  const CollectiveSpec& library = cluster.gpu.collective;
  const double links = links_of_gpu(cluster);
  const auto say = [&](double most, const std::string& what, const std::string& keys) {
    if (links <= most * kSame) return;
    check.warn("cluster.scale_up.link.bandwidth",
               text_of(links) + " a GPU, but the " + text(library.channels) +
                   " channels of a collective " + what + ' ' + text_of(most) +
                   " at most (cluster.gpu.collective." + keys + "), which is then the limit");
  };
  const bool model = is_model(check.scenario.workload.kind);
  const CollectiveOp op = collective_of(check.scenario.workload);
  const bool exchanges = op == CollectiveOp::all_to_all || op == CollectiveOp::point_to_point;
  if (model || !exchanges) {
    const auto simple = static_cast<std::size_t>(Protocol::simple);
    const Bandwidth own = library.protocols.at(simple).relay_rate;
    const bool has = own.count() > 0;
    say(library.channels * rate(has ? own : library.channel_rate), "pass on",
        has ? "simple.relay_rate x channels" : "channel_rate x channels");
  }
  if (!model && !exchanges) return;
  if (library.peer_parts) {
    say(rate(library.peer_parts->total), "exchange", "peer_parts.total");
  } else {
    say(library.channels * rate(library.exchange_rate), "exchange", "exchange_rate x channels");
  }
}

void engines_fill_the_links(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.scale_up) return;
  const bool c3 =
      check.has(Mode::dma) || check.has(Mode::dma_partition) || check.has(Mode::comm_alone_dma);
  if (check.scenario.collective.executor != CollectiveExecutor::dma && !c3) return;
  const DmaSpec& dma = cluster.gpu.dma;
  const double link = rate(engine_rate(cluster.scale_up->link));
  const bool pairs = cluster.scale_up->shape == ShapeKind::fully_connected;
  const double engines = rate(dma.rate) * (pairs ? 1 : dma.engines);  // a peer has one
  if (link <= engines * kSame) return;
  check.warn("cluster.scale_up.link.bandwidth",
             text_of(link) + " for copy engines, but " + (pairs ? "one copies " : "they copy ") +
                 text_of(engines) + " at most (cluster.gpu.dma.rate), which is then the limit");
}

}  // namespace

void warn_of_ceilings(const Check& check) {
  a_nic_is_as_fast_as_its_link(check);
  channels_fill_the_links(check);
  engines_fill_the_links(check);
}

}  // namespace weft::rules
