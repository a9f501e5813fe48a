// What a topology answers about itself is true of the links that it builds.
#include "sim/network/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/network/every_fabric.h"

namespace weft::topology_test {
namespace {

// Hops of a message from an endpoint to each other one.
std::vector<int> all_hops(const Shape& shape) {
  std::vector<int> hops;
  for (std::uint32_t from = 0; from < shape.endpoints(); ++from) {
    for (std::uint32_t to = 0; to < shape.endpoints(); ++to) {
      if (from != to) hops.push_back(shape.hops(from, to, 0));
    }
  }
  return hops;
}

// What the key `shape` takes, as the reader describes it.
std::vector<std::string> words_of_the_key() {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  FabricSpec spec;
  read_fields(MapReader(reading, nothing),
              [&spec](Fields& map) { fields(map, spec, Fabric::scale_up); });
  std::vector<std::string> words;
  for (const WordDoc& word : reading.docs().front().words) words.push_back(word.word);
  return words;
}

TEST(Topology, every_word_of_the_table_is_among_the_cases_of_these_laws) {
  std::set<std::string> seen;
  for (const FabricCase& c : every_fabric()) seen.insert(c.said.substr(0, c.said.find(',')));
  for (const std::string& word : words_of_the_key()) EXPECT_TRUE(seen.contains(word)) << word;
}

TEST(Topology, counts_the_links_that_it_builds) {
  for (const FabricCase& c : every_fabric()) {
    const auto links = static_cast<std::int64_t>(c.built()->links().size());
    EXPECT_EQ(c.topology()->count_links(c.endpoints), links) << c.said;
  }
}

TEST(Topology, has_as_many_links_at_an_endpoint_as_it_says) {
  for (const FabricCase& c : every_fabric()) {
    const auto shape = c.built();
    for (std::uint32_t endpoint = 0; endpoint < shape->endpoints(); ++endpoint) {
      const auto out = std::count_if(shape->links().begin(), shape->links().end(),
                                     [&](const ShapeLink& link) { return link.from == endpoint; });
      EXPECT_EQ(c.topology()->links_of_endpoint(c.endpoints), out) << c.said;
    }
  }
}

TEST(Topology, is_as_far_to_the_nearest_as_it_says) {
  for (const FabricCase& c : every_fabric()) {
    const std::vector<int> hops = all_hops(*c.built());
    const int nearest = *std::min_element(hops.begin(), hops.end());
    EXPECT_EQ(c.topology()->hops_to_nearest(), nearest) << c.said;
    EXPECT_GE(c.topology()->hops_of_step(), nearest) << c.said;
    const int farthest = *std::max_element(hops.begin(), hops.end());
    EXPECT_LE(c.topology()->hops_of_step(), std::max(farthest, 4)) << c.said;
  }
}

TEST(Topology, has_a_link_for_each_pair_only_where_no_two_pairs_share_one) {
  for (const FabricCase& c : every_fabric()) {
    if (!c.topology()->has_link_of_each_pair()) continue;
    const auto shape = c.built();
    std::set<std::uint32_t> used;
    for (std::uint32_t from = 0; from < shape->endpoints(); ++from) {
      for (std::uint32_t to = 0; to < shape->endpoints(); ++to) {
        if (from == to) continue;
        EXPECT_TRUE(used.insert(shape->next(from, to, 0)).second) << c.said;
      }
    }
  }
}

TEST(Topology, joins_the_neighbours_of_its_grid) {
  for (const FabricCase& c : every_fabric()) {
    const std::vector<int> grid = c.topology()->grid();
    if (grid.empty()) continue;
    EXPECT_EQ(std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>()), c.endpoints);
    const auto shape = c.built();
    std::uint32_t stride = 1;  // the first dimension runs fastest
    for (const int size : grid) {
      const auto wide = static_cast<std::uint32_t>(size);
      for (std::uint32_t at = 0; at < shape->endpoints(); ++at) {
        const std::uint32_t here = at / stride % wide;
        EXPECT_EQ(shape->hops(at, at - here * stride + (here + 1) % wide * stride, 0), 1) << c.said;
      }
      stride *= wide;
    }
  }
}

TEST(Topology, moves_links_with_the_endpoints_where_it_says_so) {
  for (const FabricCase& c : every_fabric()) {
    const auto shape = c.built();
    const std::uint32_t half = shape->endpoints() / 2;
    for (std::uint32_t by = 1; by <= half; ++by) {
      if (!c.topology()->can_move(by)) continue;
      for (std::uint32_t to = 1; to < half; ++to) {
        for (std::uint32_t here = 0; here != to;) {
          const std::uint32_t link = shape->next(here, to, 0);
          const ShapeLink& moved = shape->links()[shape->moved(link, by)];
          EXPECT_STREQ(shape->link_class(moved), shape->link_class(shape->links()[link])) << c.said;
          here = shape->links()[link].to;
        }
        const std::uint32_t first = shape->moved(shape->next(0, to, 0), by);
        EXPECT_EQ(first, shape->next(by, to + by, 0)) << c.said;
      }
    }
  }
}

TEST(Topology, a_copy_has_parameters_of_its_own) {
  const Topology torus = fabric("torus, dims: [4, 2]").topology;
  Topology copy = torus;
  EXPECT_EQ(copy->grid(), torus->grid());
  copy = fabric("ring").topology;
  copy->settle(5);
  EXPECT_EQ(copy->grid(), std::vector<int>{5});
  EXPECT_EQ(torus->grid(), (std::vector<int>{4, 2}));
}

TEST(Topology, says_a_ring_as_a_torus_of_one_size) {
  FabricSpec ring = fabric("ring");
  ring.topology->settle(6);
  const std::string text =
      text_of_fields([&ring](Fields& map) { fields(map, ring, Fabric::scale_out); });
  EXPECT_NE(text.find("shape: torus\n"), std::string::npos) << text;
  EXPECT_NE(text.find("dims: [6]\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::topology_test
