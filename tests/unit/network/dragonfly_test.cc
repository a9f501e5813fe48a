// A dragonfly: its links, its routes in a group and between groups, worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/core/rng.h"
#include "tests/unit/network/fabric_of.h"

namespace weft::dragonfly_test {
namespace {

struct Sizes {
  int per_router = 0;
  int routers = 0;
  int between = 0;
};

std::string said(const Sizes& sizes, const std::string& routing) {
  return fmt::format(
      "dragonfly, endpoints_per_router: {}, routers_per_group: {}, links_between_groups: {}, "
      "global_routing: {}",
      sizes.per_router, sizes.routers, sizes.between, routing);
}

std::unique_ptr<const Shape> dragonfly(int groups, const Sizes& sizes,
                                       const std::string& routing = "by_destination") {
  return fabric(said(sizes, routing)).topology->build(groups * sizes.routers * sizes.per_router);
}

std::vector<std::uint32_t> route(const Shape& shape, std::uint32_t from, std::uint32_t to,
                                 std::uint64_t hash) {
  std::vector<std::uint32_t> links;
  for (std::uint32_t at = from; at != to; at = shape.links()[links.back()].to) {
    links.push_back(shape.next(at, to, hash));
  }
  return links;
}

std::vector<std::string> classes(const Shape& shape, std::uint32_t from, std::uint32_t to) {
  std::vector<std::string> names;
  for (const std::uint32_t link : route(shape, from, to, 0)) {
    names.emplace_back(shape.link_class(shape.links()[link]));
  }
  return names;
}

// 3 groups of 2 routers of 2 endpoints, a link between any two groups. A group's port 0 leads one
// group on and is on router 0; port 1 leads two groups on (one back) and is on router 1. So each
// group's router 0 is joined to router 1 of the next group, and all 6 routers are a ring:
//   g0r0 - g1r1 - g1r0 - g2r1 - g2r0 - g0r1 - g0r0
using Classes = std::vector<std::string>;

TEST(Dragonfly, routes_cross_a_group_only_where_they_must) {
  const auto shape = dragonfly(3, {.per_router = 2, .routers = 2, .between = 1});
  EXPECT_EQ(classes(*shape, 0, 1), (Classes{"up", "down"}));                     // one router
  EXPECT_EQ(classes(*shape, 0, 2), (Classes{"up", "local", "down"}));            // one group
  EXPECT_EQ(classes(*shape, 0, 6), (Classes{"up", "global", "down"}));           // g1r1
  EXPECT_EQ(classes(*shape, 0, 4), (Classes{"up", "global", "local", "down"}));  // g1r0
  EXPECT_EQ(classes(*shape, 0, 8), (Classes{"up", "local", "global", "down"}));  // g2r0
  EXPECT_EQ(classes(*shape, 0, 10), (Classes{"up", "local", "global", "local", "down"}));  // g2r1
  EXPECT_EQ(shape->description(), "dragonfly of 3 groups of 2 routers");
}

TEST(Dragonfly, links_are_those_of_endpoints_groups_and_pairs_of_groups) {
  // Up and down 2 x 12, in each group 2 x 1, between each two of 3 groups one, each way.
  EXPECT_EQ(dragonfly(3, {.per_router = 2, .routers = 2, .between = 1})->links().size(),
            24U + 6U + 6U);
  // Kim et al.: p = h = 2, a = 4 make N = 72 of routers with 7 ports, each router with
  // 2 endpoints, 3 others of its group and 2 other groups.
  const auto shape = dragonfly(9, {.per_router = 2, .routers = 4, .between = 1});
  ASSERT_EQ(shape->endpoints(), 72U);
  for (std::uint32_t router = 72; router < 72 + 36; ++router) {
    EXPECT_EQ(std::count_if(shape->links().begin(), shape->links().end(),
                            [router](const ShapeLink& link) { return link.from == router; }),
              2 + 3 + 2);
  }
}

TEST(Dragonfly, routers_of_a_group_have_as_many_global_links_or_one_more) {
  for (const int groups : {2, 3, 4, 7}) {
    for (const int routers : {1, 2, 3, 5}) {
      for (const int between : {1, 2, 4, 5, 7}) {
        const auto shape =
            dragonfly(groups, {.per_router = 1, .routers = routers, .between = between});
        std::vector<int> ports(static_cast<std::size_t>(groups * routers), 0);
        for (const ShapeLink& link : shape->links()) {
          if (shape->link_class(link) == std::string("global")) {
            ports[link.from - shape->endpoints()] += 1;
          }
        }
        const auto [least, most] = std::minmax_element(ports.begin(), ports.end());
        EXPECT_EQ(*least, (groups - 1) * between / routers);
        EXPECT_LE(*most, *least + 1);
      }
    }
  }
}

// How many messages of 4,000, each with another hash, use each of the global links.
std::vector<int> shares(const Shape& shape, std::uint32_t from, std::uint32_t to) {
  std::vector<int> count(shape.links().size(), 0);
  for (std::uint64_t i = 0; i < 4'000; ++i) {
    for (const std::uint32_t link : route(shape, from, to, mix64(i))) count[link] += 1;
  }
  std::vector<int> global;
  for (std::size_t link = 0; link < count.size(); ++link) {
    const bool is_global = shape.link_class(shape.links()[link]) == std::string("global");
    if (is_global && count[link] > 0) global.push_back(count[link]);
  }
  return global;
}

TEST(Dragonfly, hashes_choose_all_equal_links_about_equally_often) {
  // Two groups: router r is joined to router r of the other by bundle r.
  const Sizes few{.per_router = 1, .routers = 6, .between = 4};
  const Sizes many{.per_router = 1, .routers = 2, .between = 8};
  for (const char* const routing : {"ecmp", "spray"}) {
    // Routers 4 and 5 have no link: from 4 to 5 any of the 4, local before and behind.
    EXPECT_EQ(shares(*dragonfly(2, few, routing), 4, 6 + 5).size(), 4U);
    // 0 to 1: its own link and then local, or local and then that of router 1.
    EXPECT_EQ(shares(*dragonfly(2, few, routing), 0, 6 + 1).size(), 2U);
    EXPECT_EQ(shares(*dragonfly(2, few, routing), 0, 6 + 5).size(), 1U);   // its own
    EXPECT_EQ(shares(*dragonfly(2, few, routing), 4, 6 + 1).size(), 1U);   // that of router 1
    EXPECT_EQ(shares(*dragonfly(2, many, routing), 0, 2 + 0).size(), 4U);  // a bundle of 4
    EXPECT_EQ(shares(*dragonfly(2, many, routing), 0, 2 + 1).size(), 8U);  // or the other of 4
    for (const auto& [sizes, from, to] :
         {std::tuple{few, 4U, 11U}, {few, 0U, 7U}, {many, 0U, 2U}, {many, 0U, 3U}}) {
      const std::vector<int> share = shares(*dragonfly(2, sizes, routing), from, to);
      // 4,000 / n each; six standard deviations of sqrt(4000 x 1/n x (1 - 1/n)), at most 32.
      const int each = 4'000 / static_cast<int>(share.size());
      for (const int n : share) EXPECT_NEAR(n, each, 6 * 32) << routing;
    }
  }
}

TEST(Dragonfly, by_destination_hashes_choose_nothing) {
  const auto shape = dragonfly(2, {.per_router = 1, .routers = 2, .between = 8});
  EXPECT_EQ(shares(*shape, 0, 3).size(), 1U);
}

// How often the routes of an all-to-all cross each link.
std::vector<int> loads(const Shape& shape) {
  std::vector<int> load(shape.links().size(), 0);
  for (std::uint32_t from = 0; from < shape.endpoints(); ++from) {
    for (std::uint32_t to = 0; to < shape.endpoints(); ++to) {
      for (const std::uint32_t link : route(shape, from, to, 0)) load[link] += 1;
    }
  }
  return load;
}

TEST(Dragonfly, an_all_to_all_loads_the_links_inside_groups_most_where_groups_are_small) {
  // 3 groups of 2 routers of 2. Global: 4 x 4 messages. Local: 2 x 2 between its routers; 2 x 4 on
  // their way to the group that the other router leads to; 4 x 2 from the one that leads here.
  const auto shape = dragonfly(3, {.per_router = 2, .routers = 2, .between = 1});
  const std::vector<int> load = loads(*shape);
  for (std::size_t link = 0; link < load.size(); ++link) {
    const std::string name = shape->link_class(shape->links()[link]);
    EXPECT_EQ(load[link], name == "global" ? 16 : name == "local" ? 4 + 8 + 8 : 11) << name;
  }
}

TEST(Dragonfly, an_all_to_all_of_twice_as_many_routers_loads_all_links_about_alike) {
  // Kim et al.: a = 2p = 2h balances. p = h = 2, a = 4, 72 endpoints: an endpoint sends 71
  // messages, a global link takes 8 x 8 = 64, a local one p^2 of its routers, and p x h x ap = p^2
  // a h out and as many in: 4 x (1 + 2 x 8) = 68.
  const auto shape = dragonfly(9, {.per_router = 2, .routers = 4, .between = 1});
  const std::vector<int> load = loads(*shape);
  for (std::size_t link = 0; link < load.size(); ++link) {
    const std::string name = shape->link_class(shape->links()[link]);
    EXPECT_EQ(load[link], name == "global" ? 64 : name == "local" ? 68 : 71) << name;
  }
}

TEST(Dragonfly, moves_whole_routes_by_whole_groups_round_and_round) {
  for (const Sizes& sizes : {Sizes{2, 2, 1}, Sizes{1, 3, 5}, Sizes{2, 3, 2}}) {
    const std::string by_destination = said(sizes, "by_destination");
    const int per_group = sizes.per_router * sizes.routers;
    const auto n = static_cast<std::uint32_t>(4 * per_group);
    const auto by = static_cast<std::uint32_t>(per_group);
    EXPECT_TRUE(fabric(by_destination).topology->can_move(by));
    EXPECT_FALSE(fabric(by_destination).topology->can_move(by + 1));
    EXPECT_FALSE(fabric(said(sizes, "ecmp")).topology->can_move(by));
    const auto shape = fabric(by_destination).topology->build(n);
    for (std::uint32_t from = 0; from < n; ++from) {
      for (std::uint32_t to = 0; to < n; ++to) {
        std::vector<std::uint32_t> moved;
        for (const std::uint32_t link : route(*shape, from, to, 0)) {
          moved.push_back(shape->moved(link, by));
        }
        EXPECT_EQ(moved, route(*shape, (from + by) % n, (to + by) % n, 0)) << from << "->" << to;
      }
    }
  }
}

TEST(Dragonfly, a_group_may_send_more_than_leads_on_from_it) {
  const auto over = [](const Sizes& sizes, int endpoints) {
    Topology topology = fabric(said(sizes, "ecmp")).topology;
    topology->settle(endpoints);
    return topology->oversubscription();
  };
  EXPECT_EQ(over({2, 2, 1}, 12), 4.0 / 2);  // 4 endpoints, a link to each of 2 groups
  EXPECT_EQ(over({2, 4, 1}, 72), 1);        // Kim et al.: 8 and 8
  EXPECT_EQ(over({2, 2, 8}, 8), 1);         // never less
}

}  // namespace
}  // namespace weft::dragonfly_test
