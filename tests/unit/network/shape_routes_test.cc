// Laws of every shape: routes are connected, arrive, and are as short as the links allow.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/rng.h"
#include "sim/network/shape.h"
#include "tests/unit/network/every_fabric.h"

namespace weft::shape_routes_test {
namespace {

using Case = FabricCase;

Case torus(const std::vector<int>& dims, const std::string& ties) {
  int endpoints = 1;
  for (const int size : dims) endpoints *= size;
  return {fmt::format("torus, dims: [{}], ring_ties: {}", fmt::join(dims, ", "), ties), endpoints};
}

// Least number of links from `from` to every endpoint, by breadth-first search over the links:
// knows nothing of coordinates. No way has two links of the class "global": groups do not pass on
// what is neither theirs nor for them (a dragonfly's minimal routing), though two such links may be
// fewer than one with a link of its group before and behind.
std::vector<int> distances(const Shape& shape, std::uint32_t from) {
  std::uint32_t vertices = 0;
  for (const ShapeLink& link : shape.links()) vertices = std::max({vertices, link.from, link.to});
  ++vertices;
  // A vertex before a global link, and, `vertices` further on, behind one.
  std::vector<std::vector<std::uint32_t>> neighbours(2 * std::size_t{vertices});
  for (const ShapeLink& link : shape.links()) {
    const bool global = std::string_view(shape.link_class(link)) == "global";
    neighbours[link.from].push_back(global ? vertices + link.to : link.to);
    if (!global) neighbours[vertices + link.from].push_back(vertices + link.to);
  }
  std::vector<int> distance(neighbours.size(), -1);
  distance[from] = 0;
  std::vector<std::uint32_t> queue = {from};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t next : neighbours[queue[i]]) {
      if (distance[next] >= 0) continue;
      distance[next] = distance[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  std::vector<int> shortest;
  for (std::uint32_t to = 0; to < shape.endpoints(); ++to) {
    const int before = distance[to];
    const int behind = distance[vertices + to];
    shortest.push_back(before < 0 || behind < 0 ? std::max(before, behind)
                                                : std::min(before, behind));
  }
  return shortest;
}

TEST(Shape, every_route_is_connected_arrives_and_is_as_short_as_any) {
  for (const Case& c : every_fabric()) {
    SCOPED_TRACE(c.said);
    const std::unique_ptr<const Shape> built = c.built();
    const Shape& shape = *built;
    ASSERT_EQ(shape.endpoints(), static_cast<std::uint32_t>(c.endpoints));
    for (std::uint32_t from = 0; from < shape.endpoints(); ++from) {
      const std::vector<int> distance = distances(shape, from);
      for (std::uint32_t to = 0; to < shape.endpoints(); ++to) {
        const std::uint64_t hash = mix64(from * 1'000 + to);
        std::uint32_t here = from;
        int hops = 0;
        while (here != to) {
          const std::uint32_t link = shape.next(here, to, hash);
          ASSERT_LT(link, shape.links().size());
          ASSERT_EQ(shape.links()[link].from, here) << from << "->" << to;
          here = shape.links()[link].to;
          ASSERT_LE(++hops, distance[to]) << from << "->" << to;
        }
        ASSERT_EQ(hops, distance[to]) << from << "->" << to;
        ASSERT_EQ(shape.hops(from, to, hash), hops);
      }
    }
  }
}

TEST(Shape, no_link_leads_back_to_where_it_begins) {
  for (const Case& c : every_fabric()) {
    const std::unique_ptr<const Shape> built = c.built();
    const Shape& shape = *built;
    for (const ShapeLink& link : shape.links()) EXPECT_NE(link.from, link.to) << c.said;
  }
}

TEST(Shape, cables_have_two_directions) {
  for (const Case& c : every_fabric()) {
    SCOPED_TRACE(c.said);
    const std::unique_ptr<const Shape> built = c.built();
    const Shape& shape = *built;
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> there;
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> back;
    for (const ShapeLink& link : shape.links()) {
      there.emplace(link.from, link.to);
      back.emplace(link.to, link.from);
    }
    EXPECT_EQ(there, back);
  }
}

TEST(Shape, torus_routes_are_the_manhattan_distance_on_rings) {
  const Case c = torus({6, 4, 3}, "split");
  const std::unique_ptr<const Shape> built = c.built();
  const Shape& shape = *built;
  const auto ring = [](std::uint32_t a, std::uint32_t b, std::uint32_t size) {
    const std::uint32_t d = a > b ? a - b : b - a;
    return static_cast<int>(std::min(d, size - d));
  };
  for (std::uint32_t a = 0; a < 72; ++a) {
    for (std::uint32_t b = 0; b < 72; ++b) {
      // The first dimension runs fastest: vertex = x + 6 y + 24 z.
      const int expected =
          ring(a % 6, b % 6, 6) + ring(a / 6 % 4, b / 6 % 4, 4) + ring(a / 24, b / 24, 3);
      ASSERT_EQ(shape.hops(a, b, 0), expected) << a << "->" << b;
    }
  }
}

TEST(Shape, torus_routes_take_the_dimensions_in_order) {
  const Case c = torus({5, 4, 3}, "split");
  const std::unique_ptr<const Shape> built = c.built();
  const Shape& shape = *built;
  for (std::uint32_t from = 0; from < 60; ++from) {
    for (std::uint32_t to = 0; to < 60; ++to) {
      unsigned before = 0;
      for (std::uint32_t here = from; here != to;) {
        const ShapeLink& link = shape.links()[shape.next(here, to, 0)];
        ASSERT_GE(link.dimension / 2U, before / 2U);
        if (here != from && link.dimension / 2U == before / 2U) {
          ASSERT_EQ(link.dimension, before) << "turns round in a ring";
        }
        before = link.dimension;
        here = link.to;
      }
    }
  }
}

TEST(Shape, the_average_route_of_a_16x8_torus_has_6_hops) {
  // A ring of n (even) is n/4 long on average over all n destinations, own included: 16/4 + 8/4.
  const Case c = torus({16, 8}, "positive");
  const std::unique_ptr<const Shape> built = c.built();
  const Shape& shape = *built;
  int hops = 0;
  for (std::uint32_t from = 0; from < 128; ++from) {
    for (std::uint32_t to = 0; to < 128; ++to) hops += shape.hops(from, to, 0);
  }
  EXPECT_EQ(hops, 128 * 128 * 6);
}

}  // namespace
}  // namespace weft::shape_routes_test
