// Bandwidth of a link that nothing can use, because a number measured with slower links is the
// limit: a warning, not an error.
#include <fmt/format.h>

#include <string>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

// What was measured and what it was measured over differ by less.
constexpr double kSame = 1.1;

std::string text_of(double bytes_per_second) {
  return fmt::format("{:.4g} GB/s", bytes_per_second * 1e-9);
}

// Where the way on from the NICs' ports is narrower than all of them, it is another limit.
void a_nic_is_as_fast_as_its_link(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.nic || !cluster.scale_out || cluster.nodes < 2) return;
  const FabricSpec& fabric = *cluster.scale_out;
  const double link = to_bytes_per_second(fabric.link.bandwidth);
  const double nic = to_bytes_per_second(cluster.nic->bandwidth);
  if (link > nic * kSame * fabric.topology->oversubscription()) {
    check.warn("cluster.scale_out.link.bandwidth",
               text_of(link) + ", but a NIC sends and receives only " + text_of(nic) +
                   " (cluster.nic.bandwidth), which is the limit");
  }
}

// What leaves a GPU by all its links of the node.
double links_of_gpu(const ClusterSpec& cluster) {
  const FabricSpec& fabric = *cluster.scale_up;
  return to_bytes_per_second(fabric.link.bandwidth) *
         static_cast<double>(fabric.topology->links_of_endpoint(cluster.gpus_per_node));
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
               text_of(links) + " per GPU, but the " + text(library.channels) +
                   " channels of a collective " + what + " at most " + text_of(most) +
                   " (cluster.gpu.collective." + keys + "), which is the limit");
  };
  const bool model = is_model(check.scenario.workload.kind);
  const CollectiveOp op = collective_of(check.scenario.workload);
  const bool exchanges = op == CollectiveOp::all_to_all || op == CollectiveOp::point_to_point;
  if (model || !exchanges) {
    const auto simple = static_cast<std::size_t>(Protocol::simple);
    const Bandwidth own = library.protocols.at(simple).relay_rate;
    const bool has = own.count() > 0;
    say(library.channels * to_bytes_per_second(has ? own : library.channel_rate), "pass on",
        has ? "simple.relay_rate x channels" : "channel_rate x channels");
  }
  if (!model && !exchanges) return;
  if (library.peer_parts) {
    say(to_bytes_per_second(library.peer_parts->total), "exchange", "peer_parts.total");
  } else {
    say(library.channels * to_bytes_per_second(library.exchange_rate), "exchange",
        "exchange_rate x channels");
  }
}

void engines_fill_the_links(const Check& check) {
  const ClusterSpec& cluster = check.scenario.cluster;
  if (!cluster.scale_up) return;
  const bool by_mode = check.has(Mode::dma) || check.has(Mode::dma_partition) ||
                       check.has(Mode::comm_alone_dma) || check.has(Mode::pipelined) ||
                       check.has(Mode::copy_fed);
  if (check.scenario.collective.executor != CollectiveExecutor::dma && !by_mode) return;
  const DmaSpec& dma = cluster.gpu.dma;
  const double link = to_bytes_per_second(engine_rate(cluster.scale_up->link));
  const bool pairs = cluster.scale_up->topology->has_link_of_each_pair();
  const double engines =
      to_bytes_per_second(dma.rate) * (pairs ? 1 : dma.engines);  // a peer has one
  if (link <= engines * kSame) return;
  check.warn("cluster.scale_up.link.bandwidth",
             text_of(link) + " for copy engines, but " +
                 (pairs ? "one copies at most " : "they copy at most ") + text_of(engines) +
                 " (cluster.gpu.dma.rate), which is the limit");
}

}  // namespace

void warn_of_ceilings(const Check& check) {
  a_nic_is_as_fast_as_its_link(check);
  channels_fill_the_links(check);
  engines_fill_the_links(check);
}

}  // namespace weft::rules
