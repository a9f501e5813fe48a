#include "sim/engine/places.h"

#include <algorithm>

#include "sim/core/ties.h"

namespace weft {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

void tie_dependencies(const Cluster& cluster, const TaskGraph& graph, Ties& ties) {
  for (const Kernel& kernel : graph.kernels) {
    for (std::uint32_t d = 0; d < kernel.dependencies; ++d) {
      const KernelId before = graph.dependencies[kernel.first_dependency + d];
      ties.tie(cluster.node_of(kernel.gpu), cluster.node_of(graph.kernels[before].gpu));
    }
  }
}

// Who counts a latch down, waits for it or issues its sends reads and writes it at once.
class LatchUse {
 public:
  LatchUse(const TaskGraph& graph, Ties& ties)
      : graph_(graph), ties_(ties), node_of_(graph.latches.size(), kNone) {}

  void used(LatchId latch, std::uint32_t node) {
    if (latch.is_none()) return;
    std::uint32_t& known = node_of_[latch.value];
    if (known == kNone) known = node;
    if (known != node) ties_.tie(known, node);
  }

  // The WG that opens the latch counts down what its sends issue, and sends what that opens.
  void opened(LatchId latch) {
    const std::uint32_t node = node_of_[latch.value];
    if (node == kNone) return;
    for_each_issued(latch, [&](LatchId issued) {
      used(issued, node);
      for_each_issued(issued, [&](LatchId nested) { used(nested, node); });
    });
  }

 private:
  template <class Use>
  void for_each_issued(LatchId id, Use use) const {
    const TaskGraph::SendRange its = graph_.sends_of(id);
    for (std::uint32_t s = its.first; s < its.end(); ++s) {
      if (!graph_.sends[s].issued.is_none()) use(graph_.sends[s].issued);
    }
  }

  const TaskGraph& graph_;
  Ties& ties_;
  std::vector<std::uint32_t> node_of_;
};

void tie_latches(const Cluster& cluster, const TaskGraph& graph, Ties& ties) {
  LatchUse latches(graph, ties);
  for (const Kernel& kernel : graph.kernels) {
    const std::uint32_t node = cluster.node_of(kernel.gpu);
    latches.used(kernel.finish, node);
    latches.used(kernel.ended, node);
    graph.for_each_run(kernel, [&](const Item& item, std::uint32_t) {
      latches.used(item.counts_down, node);
      latches.used(item.waits_for, node);
    });
  }
  for (std::uint32_t i = 0; i < graph.latches.size(); ++i) latches.opened(LatchId(i));
  for (const Send& send : graph.sends) {
    if (send.arrives.is_none()) continue;
    const std::uint32_t node = cluster.node_of(GpuId(send.to));
    const bool copied = send.in_switch == InSwitch::multicasts;
    const std::size_t copies = copied ? graph.groups[send.group].size() : 1;
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
      latches.used(LatchId(send.arrives.value + copy), node);
    }
  }
}

}  // namespace

LinksOfPlaces::ByPlace::ByPlace(const std::vector<std::uint32_t>& place_of_link,
                                std::uint32_t places)
    : links(place_of_link.size()), first(places + std::size_t{1}) {
  for (const std::uint32_t place : place_of_link) ++first[place + std::size_t{1}];
  for (std::size_t p = 0; p < places; ++p) first[p + 1] += first[p];
  std::vector<std::uint32_t> end = first;
  for (std::uint32_t i = 0; i < place_of_link.size(); ++i) {
    links[end[place_of_link[i]]++] = LinkId(i);
  }
}

Places places_of(const Cluster& cluster, const TaskGraph& graph, const Transport& transport) {
  const auto nodes = static_cast<std::uint32_t>(cluster.network.nodes);
  std::vector<Transport::Ends> links;
  std::uint32_t parts = nodes;
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    links.push_back(transport.ends(LinkId(i)));
    parts = std::max({parts, links.back().from + 1, links.back().to + 1});
  }
  Ties ties(parts);
  tie_dependencies(cluster, graph, ties);
  tie_latches(cluster, graph, ties);
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    if (transport.latency(LinkId(i)).count() == 0) ties.tie(links[i].from, links[i].to);
  }

  Places places;
  std::vector<std::uint32_t> of_part(parts, kNone);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint32_t first = ties.find(part);
    if (first == part) of_part[part] = places.count++;
    of_part[part] = of_part[first];
  }
  places.of_node.assign(of_part.begin(), of_part.begin() + nodes);
  places.lookahead = Duration::from_count(INT64_MAX);
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    places.of_link.push_back(of_part[links[i].to]);
    places.from_link.push_back(of_part[links[i].from]);
    if (of_part[links[i].from] == of_part[links[i].to]) continue;
    places.lookahead = std::min(places.lookahead, transport.latency(LinkId(i)));
  }
  return places;
}

}  // namespace weft
