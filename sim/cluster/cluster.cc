#include "sim/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace weft {
namespace {

std::string rate_text(Bandwidth rate) {
  return fmt::format("{:g} Gb/s", static_cast<double>(rate.count()) * 8e-9);
}

std::string counted(std::size_t number, const char* what) {
  return fmt::format("   {} {}{}", number, what, number == 1 ? "" : "s");
}

void note_unsound_nodes(Cluster& cluster) {
  const ClusterSpec& spec = cluster.spec;
  if (spec.stragglers.empty() && spec.degraded_links.empty()) return;
  cluster.unsound.resize(static_cast<std::size_t>(spec.nodes));
  for (const Straggler& slow : spec.stragglers) {
    cluster.unsound[cluster.node_of(GpuId(static_cast<std::uint32_t>(slow.gpu)))] = true;
  }
  const Transport transport(cluster.network);
  for (const DegradedLink& link : spec.degraded_links) {
    const auto node = transport.node_of(transport.named(link.link));
    if (node) cluster.unsound[*node] = true;
  }
}

}  // namespace

Cluster build_cluster(const ClusterSpec& spec) {
  Cluster cluster{.spec = spec,
                  .network = spec.network(),
                  .memory_bend = Bend(spec.gpu.memory.bend),
                  .arithmetic_bend = Bend(Bend::kCorner),
                  .unsound = {}};
  note_unsound_nodes(cluster);
  return cluster;
}

std::string one_line(const Cluster& cluster) {
  const ClusterSpec& spec = cluster.spec;
  std::string text = fmt::format("{} node{} x {} {}", spec.nodes, spec.nodes == 1 ? "" : "s",
                                 spec.gpus_per_node, spec.gpu.name);
  if (spec.gpus_per_node > 1) {
    text +=
        fmt::format("   {}, {}", spec.scale_up->topology->build(spec.gpus_per_node)->description(),
                    rate_text(spec.scale_up->link.bandwidth));
  }
  if (spec.nodes > 1) {
    const int nics = spec.nodes * spec.nic->per_node;
    text += fmt::format("   {} NIC{} of {} per node, {}, {}", spec.nic->per_node,
                        spec.nic->per_node == 1 ? "" : "s", rate_text(spec.nic->bandwidth),
                        spec.scale_out->topology->build(nics)->description(),
                        rate_text(spec.scale_out->link.bandwidth));
  }
  if (!spec.stragglers.empty()) text += counted(spec.stragglers.size(), "straggler");
  if (!spec.degraded_links.empty()) text += counted(spec.degraded_links.size(), "degraded link");
  return text;
}

std::string to_text(const Cluster& cluster) {
  const GpuSpec& gpu = cluster.spec.gpu;
  std::string text =
      fmt::format("cluster: {}\ngpus: {} ({} CUs, {:.4g} TB/s, saturation exponent {})\n",
                  one_line(cluster), cluster.gpus(), gpu.cus,
                  static_cast<double>(gpu.memory.bandwidth.count()) * 1e-12, gpu.memory.bend);
  const Transport transport(cluster.network);
  struct Class {
    std::size_t links = 0;
    Bandwidth each;
  };
  std::map<std::string, Class> classes;
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    Class& entry = classes[transport.link_class(LinkId(i))];
    entry.links += 1;
    entry.each = std::max(entry.each, transport.bandwidth(LinkId(i)));
  }
  text += "links:\n";
  for (const auto& [name, entry] : classes) {
    text += fmt::format("  {}: {} x {}\n", name, entry.links, rate_text(entry.each));
  }
  for (const Straggler& slow : cluster.spec.stragglers) {
    text += fmt::format("straggler: GPU {}, clock {:g}, memory {:g}\n", slow.gpu, slow.clock,
                        slow.memory);
  }
  for (const DegradedLink& link : cluster.spec.degraded_links) {
    text += fmt::format("degraded link: {}, {:g} of its bandwidth\n", link.link, link.bandwidth);
  }
  return text;
}

}  // namespace weft
