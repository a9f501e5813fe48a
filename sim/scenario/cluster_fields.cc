#include "sim/gpu_model/gpu_fields.h"
#include "sim/network/network_fields.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {

static void fields(Fields& map, Straggler& slow) {
  map.add("gpu", slow.gpu,
          {.help = "number of the GPU, from 0, node by node", .range = {{0, 65'535}}});
  map.fraction("clock", slow.clock,
               {.help = "fraction of the normal speed at which its WGs work",
                .range = kShareLeft,
                .fallback = 1});
  map.fraction(
      "memory", slow.memory,
      {.help = "fraction of the HBM bandwidth that it has", .range = kShareLeft, .fallback = 1});
}

namespace {

// A base may carry what this cluster is too small to use.
void leave_out_what_is_not_used(ClusterSpec& cluster) {
  if (cluster.gpus_per_node == 1) cluster.scale_up.reset();
  if (cluster.nodes == 1) {
    cluster.scale_out.reset();
    cluster.nic.reset();
  }
}

}  // namespace

void fields(Fields& map, ClusterSpec& cluster) {
  map.name("name", cluster.name, "what reports call this cluster");
  map.add("nodes", cluster.nodes, {.help = "nodes of the cluster", .range = {{1, 65'536}}});
  map.add("gpus_per_node", cluster.gpus_per_node, {.help = "GPUs per node", .range = {{1, 1'024}}});
  map.map("gpu", cluster.gpu, "the GPU; all are alike; usually base: gpus/NAME");
  const auto fabric = [](Fabric which) {
    return [which](Fields& inner, FabricSpec& spec) { fields(inner, spec, which); };
  };
  map.optional_map("scale_up", cluster.scale_up, "fabric inside a node", fabric(Fabric::scale_up));
  map.optional_map("scale_out", cluster.scale_out, "fabric between nodes",
                   fabric(Fabric::scale_out));
  map.optional_map("nic", cluster.nic, "NICs of a node");
  map.optional_maps("stragglers", cluster.stragglers, "GPUs that are slower than the others");
  map.optional_maps("degraded_links", cluster.degraded_links,
                    "links that are slower than the others");
  if (map.writes()) return;
  leave_out_what_is_not_used(cluster);
  if (cluster.scale_up) cluster.scale_up->topology->settle(cluster.gpus_per_node);
  if (cluster.scale_out && cluster.nic) {
    cluster.scale_out->topology->settle(std::int64_t{cluster.nodes} * cluster.nic->per_node);
  }
}

}  // namespace weft
