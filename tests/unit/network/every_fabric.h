// Fabrics of every topology, for laws that hold for all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/network/fabric_of.h"

namespace weft {

struct FabricCase {
  std::string said;
  int endpoints = 0;

  [[nodiscard]] Topology topology() const {
    Topology settled = fabric(said).topology;
    settled->settle(endpoints);
    return settled;
  }
  [[nodiscard]] std::unique_ptr<const Shape> built() const { return topology()->build(endpoints); }
};

// With every word of the table, which a test checks.
inline std::vector<FabricCase> every_fabric() {
  std::vector<FabricCase> cases;
  for (const int n : {2, 3, 8, 17}) {
    cases.push_back({"fully_connected", n});
    cases.push_back({"switch", n});
    cases.push_back({"ring", n});
  }
  const std::vector<FabricCase> tori = {
      {"[2]", 2},     {"[3]", 3},       {"[4]", 4},        {"[7]", 7},       {"[8]", 8},
      {"[2, 2]", 4},  {"[4, 3]", 12},   {"[16, 8]", 128},  {"[2, 5]", 10},   {"[5, 2]", 10},
      {"[6, 6]", 36}, {"[2, 2, 2]", 8}, {"[4, 3, 2]", 24}, {"[2, 6, 5]", 60}};
  for (const FabricCase& torus : tori) {
    for (const char* const ties : {"positive", "split"}) {
      cases.push_back({"torus, dims: " + torus.said + ", ring_ties: " + ties, torus.endpoints});
    }
  }
  const std::vector<FabricCase> trees = {{"4", 16},
                                         {"6, oversubscription: 2", 12},
                                         {"5, oversubscription: 5", 15},  // one spine
                                         {"1", 4}};                       // leaves of one endpoint
  for (const FabricCase& tree : trees) {
    for (const char* const routing : {"by_destination", "ecmp", "spray"}) {
      cases.push_back({"fat_tree, endpoints_per_leaf: " + tree.said + ", up_routing: " + routing,
                       tree.endpoints});
    }
  }
  // Per router, routers per group, links between groups: one and several links, fewer and more than
  // routers, shared out evenly and not.
  const std::vector<FabricCase> dragonflies = {
      {"2, routers_per_group: 2, links_between_groups: 1", 12},
      {"2, routers_per_group: 4, links_between_groups: 1", 72},  // Kim et al.: 9 groups
      {"1, routers_per_group: 3, links_between_groups: 4", 6},
      {"3, routers_per_group: 1, links_between_groups: 2", 12},
      {"1, routers_per_group: 1, links_between_groups: 1", 5},
      {"1, routers_per_group: 5, links_between_groups: 3", 20},
      {"2, routers_per_group: 3, links_between_groups: 8", 24}};
  for (const FabricCase& dragonfly : dragonflies) {
    for (const char* const routing : {"by_destination", "ecmp", "spray"}) {
      cases.push_back(
          {"dragonfly, endpoints_per_router: " + dragonfly.said + ", global_routing: " + routing,
           dragonfly.endpoints});
    }
  }
  return cases;
}

}  // namespace weft
