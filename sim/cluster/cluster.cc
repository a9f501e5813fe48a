#include "sim/cluster/cluster.h"

#include <fmt/format.h>

#include <map>

namespace weft {
namespace {

std::string rate_text(Bandwidth rate) {
  return fmt::format("{:g} Gb/s", static_cast<double>(rate.count()) * 8e-9);
}

}  // namespace

Cluster build_cluster(const ClusterSpec& spec) {
  return Cluster{.spec = spec,
                 .network = {.nodes = spec.nodes,
                             .gpus_per_node = spec.gpus_per_node,
                             .scale_up = spec.scale_up,
                             .scale_out = spec.scale_out,
                             .nic = spec.nic},
                 .memory_bend = Bend(spec.gpu.memory.bend),
                 .arithmetic_bend = Bend(Bend::kCorner)};
}

std::string one_line(const Cluster& cluster) {
  const ClusterSpec& spec = cluster.spec;
  std::string text = fmt::format("{} node{} x {} {}", spec.nodes, spec.nodes == 1 ? "" : "s",
                                 spec.gpus_per_node, spec.gpu.name);
  if (spec.gpus_per_node > 1) {
    text += fmt::format("   {}, {}", Shape(*spec.scale_up, spec.gpus_per_node).description(),
                        rate_text(spec.scale_up->link.bandwidth));
  }
  if (spec.nodes > 1) {
    const int nics = spec.nodes * spec.nic->per_node;
    text += fmt::format("   {}, {}", Shape(*spec.scale_out, nics).description(),
                        rate_text(spec.scale_out->link.bandwidth));
  }
  return text;
}

std::string to_text(const Cluster& cluster) {
  const GpuSpec& gpu = cluster.spec.gpu;
  std::string text = fmt::format(
      "cluster: {}\ngpus: {} ({} CUs, {:.4g} TB/s, bend {})\n", one_line(cluster), cluster.gpus(),
      gpu.cus, static_cast<double>(gpu.memory.bandwidth.count()) * 1e-12, gpu.memory.bend);
  const Transport transport(cluster.network);
  struct Class {
    std::size_t links = 0;
    Bandwidth each;
  };
  std::map<std::string, Class> classes;
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    Class& entry = classes[transport.link_class(LinkId(i))];
    entry.links += 1;
    entry.each = transport.bandwidth(LinkId(i));
  }
  text += "links:\n";
  for (const auto& [name, entry] : classes) {
    text += fmt::format("  {}: {} x {}\n", name, entry.links, rate_text(entry.each));
  }
  return text;
}

}  // namespace weft
