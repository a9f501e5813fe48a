// Places: what of a cluster can be simulated by itself for a while, because all that comes from
// elsewhere takes its time over a link.
//
// A place is a node, or a switch between nodes. Nodes whose kernels or latches depend on one
// another without a delay, and parts that a link without latency joins, are one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/transport.h"
#include "sim/tasks/task_graph.h"

namespace weft {

struct Places {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> of_node;
  std::vector<std::uint32_t> of_link;    // by link: the one at its end, where its messages arrive
  std::vector<std::uint32_t> from_link;  // the one at its beginning
  Duration lookahead;                    // the shortest time from any place to another
};

// The links of each place: those that end there, and those that begin there.
class LinksOfPlaces {
 public:
  explicit LinksOfPlaces(const Places& places)
      : into_(places.of_link, places.count), from_(places.from_link, places.count) {}
  [[nodiscard]] std::span<const LinkId> into(std::uint32_t place) const { return into_.of(place); }
  [[nodiscard]] std::span<const LinkId> from(std::uint32_t place) const { return from_.of(place); }

 private:
  struct ByPlace {
    ByPlace(const std::vector<std::uint32_t>& place_of_link, std::uint32_t places);
    [[nodiscard]] std::span<const LinkId> of(std::uint32_t place) const {
      return std::span(links).subspan(first[place], first[place + 1] - first[place]);
    }
    std::vector<LinkId> links;
    std::vector<std::uint32_t> first;  // by place, and the end
  };
  ByPlace into_;
  ByPlace from_;
};

Places places_of(const Cluster& cluster, const TaskGraph& graph, const Transport& transport);

}  // namespace weft
