#include <array>
#include <cstdint>
#include <initializer_list>

#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {
namespace {

// What the key `shape` may say: a ring is a torus of one size, which follows from the endpoints.
enum class ShapeWord { fully_connected, switched, ring, torus, fat_tree };
constexpr std::array kShapeWords = {
    Choice<ShapeWord>{"fully_connected", ShapeWord::fully_connected,
                      "a link from every endpoint to every other"},
    Choice<ShapeWord>{"switch", ShapeWord::switched,
                      "one switch, never the limit; may add up and copy (reduces)"},
    Choice<ShapeWord>{"ring", ShapeWord::ring, "a torus of one size: the number of endpoints"},
    Choice<ShapeWord>{"torus", ShapeWord::torus,
                      "2 or 3 sizes (dims); each endpoint has two links in each direction"},
    Choice<ShapeWord>{"fat_tree", ShapeWord::fat_tree,
                      "leaves and spines (endpoints_per_leaf, oversubscription)"},
};

// Of what is slower than it should be; at 0 nothing would ever end.
constexpr Range<double> kShareLeft{0.001, 1};

// What was measured on a link rests on it: a link half as fast has half of it.
constexpr Range<double> kRatio{0.01, 2};

constexpr Range<std::int64_t> kRingSize{2, 4'096};

ShapeKind shape_of(ShapeWord word) {
  switch (word) {
    case ShapeWord::fully_connected:
      return ShapeKind::fully_connected;
    case ShapeWord::switched:
      return ShapeKind::switched;
    case ShapeWord::ring:
    case ShapeWord::torus:
      return ShapeKind::torus;
    case ShapeWord::fat_tree:
      return ShapeKind::fat_tree;
  }
  return ShapeKind::switched;
}

// Copy engines reach no further than their node.
LinkSpec read_link(MapReader map, Fabric which) {
  LinkSpec link{
      .bandwidth = map.bandwidth("bandwidth", "what payload reaches on a link, one direction"),
      .latency = map.duration("latency", "first byte in to first byte out, switch included"),
      .engine_ratio = 1};
  if (which == Fabric::scale_up) {
    link.engine_ratio = map.number_or("engine_ratio", 1, kRatio,
                                      "what a copy engine's payload reaches on it, for each"
                                      " byte of bandwidth");
  }
  map.finish();
  return link;
}

Straggler read_straggler(MapReader map) {
  const Straggler straggler{
      .gpu = map.count("gpu", {0, 65'535}, "which one, from 0, node by node"),
      .clock = map.fraction_or("clock", 1, kShareLeft, "share of the speed its WGs work at"),
      .memory = map.fraction_or("memory", 1, kShareLeft, "share of its HBM's bandwidth")};
  map.finish();
  return straggler;
}

DegradedLink read_degraded_link(MapReader map) {
  DegradedLink link{
      .link = map.name("link", "its name in links.csv: nic3 send, node0 0->1, 5->6"),
      .bandwidth = map.fraction("bandwidth", kShareLeft, "share of its bandwidth that is left")};
  map.finish();
  return link;
}

// A ring has no `dims`: its one size is the number of endpoints, known once all is read.
void imply_ring_size(FabricSpec& fabric, std::int64_t endpoints) {
  if (fabric.shape == ShapeKind::torus && fabric.dims.empty()) {
    fabric.dims = {static_cast<int>(endpoints)};
  }
}

}  // namespace

FabricSpec read_fabric(MapReader map, Fabric which) {
  const auto word =
      map.choice<ShapeWord>("shape", names::table(kShapeWords), "how the endpoints are joined");
  const auto is = [&](std::initializer_list<ShapeWord> words) {
    std::optional<bool> found;
    if (!word) return found;
    found = false;
    for (const ShapeWord candidate : words) found = *found || candidate == *word;
    return found;
  };
  FabricSpec fabric;
  fabric.shape = shape_of(word.value_or(ShapeWord::switched));
  fabric.link = read_link(map.map("link", "one direction of one cable"), which);
  fabric.dims = map.where(is({ShapeWord::torus}), "shape: torus")
                    .counts("dims", kRingSize, {1, 3}, "sizes; their product is the endpoints");
  fabric.ring_ties = map.where(is({ShapeWord::torus, ShapeWord::ring}), "shape: torus or ring")
                         .choice_or("ring_ties", RingTies::split, names::table(names::kRingTies),
                                    "the way where both ways around a ring are equally short");
  MapReader tree = map.where(is({ShapeWord::fat_tree}), "shape: fat_tree");
  fabric.endpoints_per_leaf = tree.count("endpoints_per_leaf", {1, 65'536}, "ports of a leaf");
  fabric.oversubscription = tree.number_or("oversubscription", 1, {0.01, 65'536},
                                           "a leaf's bandwidth down divided by that up");
  fabric.up_routing = tree.choice_or("up_routing", UpRouting::by_destination,
                                     names::table(names::kUpRoutings), "which spine is taken");
  if (which == Fabric::scale_up) {
    fabric.reduces = map.where(is({ShapeWord::switched}), "shape: switch")
                         .choice_or("reduces", false, names::table(names::kTruths),
                                    "the switch adds up what several GPUs send to one, and copies "
                                    "what one sends to several");
    fabric.in_switch_ratio =
        map.where(fabric.reduces, "reduces: true")
            .number_or("in_switch_ratio", 1, kRatio,
                       "what payload added up or copied reaches on a link, for each byte of"
                       " link.bandwidth");
  }
  fabric.segment =
      map.size_or("segment", bytes(0), "messages are cut into pieces of at most this; 0 B: never");
  map.finish();
  return fabric;
}

NicSpec read_nic(MapReader map) {
  const NicSpec nic{
      .per_node = map.count_or("per_node", 1, {1, 1'024},
                               "NICs of one node; another NIC is there as often"),
      .bandwidth = map.bandwidth("bandwidth", "line rate of one NIC, one direction"),
      .latency = map.duration("latency", "doorbell to first byte on the wire"),
      .message_interval = map.message_rate("message_rate", "most messages a second"),
      .queue_depth = map.count("queue_depth", {1, 100'000'000},
                               "work-queue entries; a full queue stalls the sender"),
      .inline_up_to = map.size("inline_up_to", "payloads this small ride in the entry"),
      .initiated_by = map.choice_or("initiated_by", InitiatedBy::gpu,
                                    names::table(names::kInitiators), "who rings the doorbell"),
      .post = map.duration("post", "the WG's time to write an entry and ring the doorbell"),
      .flush = map.duration("flush", "the WG's time to make its results visible to the NIC"),
      .proxy_operation = map.duration("proxy_operation",
                                      "the CPU thread's time for one operation, where it posts"),
      .receive = map.duration("receive", "last byte in to data visible in the GPU's memory")};
  map.finish();
  return nic;
}

ClusterSpec read_cluster(MapReader map) {
  ClusterSpec cluster{
      .name = map.name("name", "what reports call this cluster"),
      .nodes = map.count("nodes", {1, 65'536}, "nodes of the cluster"),
      .gpus_per_node = map.count("gpus_per_node", {1, 1'024}, "GPUs of each node"),
      .gpu = read_gpu(map.map("gpu", "the GPU, all are alike; usually base: gpus/NAME")),
      .scale_up = std::nullopt,
      .scale_out = std::nullopt,
      .nic = std::nullopt,
      .stragglers = {},
      .degraded_links = {}};
  if (auto scale_up = map.optional_map("scale_up", "fabric inside a node")) {
    cluster.scale_up = read_fabric(*scale_up, Fabric::scale_up);
  }
  if (auto scale_out = map.optional_map("scale_out", "fabric between nodes")) {
    cluster.scale_out = read_fabric(*scale_out, Fabric::scale_out);
  }
  if (auto nic = map.optional_map("nic", "network cards of a node")) cluster.nic = read_nic(*nic);
  for (MapReader& slow : map.optional_maps("stragglers", "GPUs that are slower than the others")) {
    cluster.stragglers.push_back(read_straggler(slow));
  }
  for (MapReader& link : map.optional_maps("degraded_links", "links that are not as the others")) {
    cluster.degraded_links.push_back(read_degraded_link(link));
  }
  map.finish();

  // A base may carry what this cluster is too small to use.
  if (cluster.gpus_per_node == 1) cluster.scale_up.reset();
  if (cluster.nodes == 1) {
    cluster.scale_out.reset();
    cluster.nic.reset();
  }
  if (cluster.scale_up) imply_ring_size(*cluster.scale_up, cluster.gpus_per_node);
  if (cluster.scale_out && cluster.nic) {
    imply_ring_size(*cluster.scale_out, std::int64_t{cluster.nodes} * cluster.nic->per_node);
  }
  return cluster;
}

}  // namespace weft
