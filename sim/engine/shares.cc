#include "sim/engine/shares.h"

#include <algorithm>

namespace weft {

Shares shares_of(Places places, const Cluster& cluster, const TaskGraph& graph,
                 std::uint32_t most) {
  Shares shares;
  std::vector<std::uint64_t> work(places.count);
  std::uint64_t all = 0;
  for (const Kernel& kernel : graph.kernels) {
    work[places.of_node[cluster.node_of(kernel.gpu)]] += kernel.items;
    all += kernel.items;
  }
  const auto at_work = static_cast<std::uint32_t>(
      std::count_if(work.begin(), work.end(), [](std::uint64_t items) { return items > 0; }));
  shares.count = std::clamp(std::min(most, at_work), 1U, places.count);
  // Places of nodes come first. Switches between nodes only pass messages on: as many for each.
  const auto nodes = 1 + *std::max_element(places.of_node.begin(), places.of_node.end());
  const std::uint32_t switches = places.count - nodes;
  std::uint64_t before = 0;  // twice the work of those before, plus this one's
  for (std::uint32_t place = 0; place < nodes; ++place) {
    before += work[place];
    const std::uint64_t share = all == 0 ? 0 : before * shares.count / (2 * all);
    shares.of_place.push_back(std::min(static_cast<std::uint32_t>(share), shares.count - 1));
    before += work[place];
  }
  for (std::uint32_t i = 0; i < switches; ++i) {
    shares.of_place.push_back(
        static_cast<std::uint32_t>(std::uint64_t{i} * shares.count / switches));
  }
  shares.places = std::move(places);
  return shares;
}

}  // namespace weft
