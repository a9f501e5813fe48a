// What each shape is: its links, its ties, its spines and its names.
#include "sim/network/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/core/rng.h"
#include "tests/unit/network/fabric_of.h"

namespace weft::shape_test {
namespace {

using ShapePtr = std::unique_ptr<const Shape>;

ShapePtr built(const std::string& said, std::int64_t endpoints) {
  return fabric(said).topology->build(endpoints);
}

ShapePtr torus(const std::vector<int>& dims, const std::string& ties) {
  std::int64_t endpoints = 1;
  for (const int size : dims) endpoints *= size;
  return built(fmt::format("torus, dims: [{}], ring_ties: {}", fmt::join(dims, ", "), ties),
               endpoints);
}

// `per_leaf` endpoints on each of `leaves` leaves and, undersubscribed or not, as many spines as
// per_leaf / oversubscription.
ShapePtr fat_tree(int leaves, int per_leaf, int oversubscription, const std::string& routing) {
  return built(fmt::format("fat_tree, endpoints_per_leaf: {}, oversubscription: {}, up_routing: {}",
                           per_leaf, oversubscription, routing),
               leaves * per_leaf);
}

// How often the routes of an all-to-all cross each link.
std::vector<int> loads(const Shape& shape) {
  std::vector<int> load(shape.links().size(), 0);
  for (std::uint32_t from = 0; from < shape.endpoints(); ++from) {
    for (std::uint32_t to = 0; to < shape.endpoints(); ++to) {
      for (std::uint32_t here = from; here != to;) {
        const std::uint32_t link = shape.next(here, to, 0);
        load[link] += 1;
        here = shape.links()[link].to;
      }
    }
  }
  return load;
}

TEST(Shape, links_are_as_many_as_the_shape_says) {
  EXPECT_EQ(built("fully_connected", 8)->links().size(), 8U * 7U);
  EXPECT_EQ(built("switch", 8)->links().size(), 2U * 8U);
  EXPECT_EQ(torus({16, 8}, "split")->links().size(), 128U * 4U);  // 2 a dimension
  // Endpoints up and down, leaves x spines up and down: 2 x 12 + 2 x 3 x 2.
  EXPECT_EQ(fat_tree(3, 4, 2, "ecmp")->links().size(), 24U + 12U);
}

TEST(Shape, fully_connected_pairs_have_a_link_of_their_own) {
  const ShapePtr shape = built("fully_connected", 5);
  std::set<std::uint32_t> used;
  for (std::uint32_t from = 0; from < 5; ++from) {
    for (std::uint32_t to = 0; to < 5; ++to) {
      if (from == to) continue;
      EXPECT_EQ(shape->hops(from, to, 0), 1);
      EXPECT_TRUE(used.insert(shape->next(from, to, 0)).second);
    }
  }
  EXPECT_EQ(used.size(), shape->links().size());
}

TEST(Shape, ties_on_a_ring_all_go_up_where_they_are_positive) {
  // A ring of 8: a node's routes go up 1, 2, 3, 4 and down 1, 2, 3. So 1+2+3+4 = 10 routes cross
  // each link upwards and 1+2+3 = 6 downwards.
  const ShapePtr shape = torus({8}, "positive");
  const std::vector<int> load = loads(*shape);
  for (std::size_t i = 0; i < load.size(); ++i) {
    EXPECT_EQ(load[i], shape->links()[i].dimension == 0 ? 10 : 6) << i;
  }
}

TEST(Shape, ties_on_a_ring_use_all_links_alike_where_they_are_split) {
  // 8 nodes x (2 x (1+2+3) + 4) hops over 16 links are 8 each; with 4 in the ring,
  // 4 x (2 x 1 + 2) / 8 = 2.
  for (const int load : loads(*torus({8}, "split"))) EXPECT_EQ(load, 8);
  for (const int load : loads(*torus({4}, "split"))) EXPECT_EQ(load, 2);
  // 16 x 8: a link in x is crossed by 16 x 16 / 8 = 32 routes of its ring, for each of the 8
  // destination rows; in y by 8 x 8 / 8 = 8, from each of the 16 source columns: the routes turn.
  const ShapePtr shape = torus({16, 8}, "split");
  const std::vector<int> load = loads(*shape);
  for (std::size_t i = 0; i < load.size(); ++i) {
    EXPECT_EQ(load[i], shape->links()[i].dimension < 2 ? 32 * 8 : 8 * 16) << i;
  }
}

TEST(Shape, half_of_the_pairs_of_a_split_tie_go_each_way) {
  const ShapePtr shape = torus({6}, "split");
  int up = 0;
  for (std::uint32_t from = 0; from < 6; ++from) {
    const ShapeLink& link = shape->links()[shape->next(from, (from + 3) % 6, 0)];
    up += link.dimension == 0 ? 1 : 0;
  }
  EXPECT_EQ(up, 3);
}

TEST(Shape, a_ring_of_two_has_two_cables_and_uses_one_or_both) {
  const ShapePtr positive = torus({2}, "positive");
  const ShapePtr split = torus({2}, "split");
  ASSERT_EQ(positive->links().size(), 4U);  // from each of the two, upwards and downwards
  for (const ShapeLink& link : positive->links()) EXPECT_EQ(link.to, 1 - link.from);
  EXPECT_EQ(positive->hops(0, 1, 0), 1);
  // Positive: both ways upwards. Split: node 0 upwards, node 1 downwards.
  EXPECT_EQ(positive->links()[positive->next(0, 1, 0)].dimension, 0);
  EXPECT_EQ(positive->links()[positive->next(1, 0, 0)].dimension, 0);
  EXPECT_EQ(split->links()[split->next(0, 1, 0)].dimension, 0);
  EXPECT_EQ(split->links()[split->next(1, 0, 0)].dimension, 1);
}

// The spine by which a message leaves its leaf; spines are numbered behind endpoints and leaves.
std::uint32_t spine_of(const Shape& tree, std::uint32_t leaves, std::uint32_t per_leaf,
                       std::uint32_t from, std::uint32_t to, std::uint64_t hash) {
  const std::uint32_t leaf = tree.endpoints() + from / per_leaf;
  return tree.links()[tree.next(leaf, to, hash)].to - tree.endpoints() - leaves;
}

TEST(Shape, oversubscription_divides_the_spines) {
  // 6 endpoints a leaf: 1:1 is 6 spines, 2:1 is 3, 6:1 is 1.
  EXPECT_EQ(fat_tree(2, 6, 1, "ecmp")->description(), "fat tree of 2 leaves and 6 spines");
  EXPECT_EQ(fat_tree(2, 6, 2, "ecmp")->description(), "fat tree of 2 leaves and 3 spines");
  EXPECT_EQ(fat_tree(2, 6, 6, "ecmp")->description(), "fat tree of 2 leaves and 1 spine");
}

TEST(Shape, leaves_are_passed_upwards_only_where_they_must) {
  const ShapePtr tree = fat_tree(3, 4, 1, "by_destination");
  EXPECT_EQ(tree->hops(0, 3, 0), 2);  // same leaf: up, down
  EXPECT_EQ(tree->hops(0, 4, 0), 4);  // other leaf: up, leaf up, spine down, down
}

TEST(Shape, by_destination_the_spine_is_the_destination_modulo_the_spines) {
  const ShapePtr tree = fat_tree(4, 4, 2, "by_destination");  // 2 spines
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 4; to < 16; ++to) {
      for (const std::uint64_t hash : {0ULL, 1ULL, 17ULL}) {
        EXPECT_EQ(spine_of(*tree, 4, 4, from, to, hash), to % 2);
      }
    }
  }
}

TEST(Shape, hashes_choose_all_spines_about_equally_often) {
  for (const char* const routing : {"ecmp", "spray"}) {
    const ShapePtr tree = fat_tree(4, 4, 1, routing);  // 4 spines
    std::map<std::uint32_t, int> count;
    for (std::uint64_t i = 0; i < 4'000; ++i) count[spine_of(*tree, 4, 4, 0, 9, mix64(i))] += 1;
    ASSERT_EQ(count.size(), 4U);
    // 1,000 each; the standard deviation is sqrt(4000 x 1/4 x 3/4) = 27; six of them are 164.
    for (const auto& [spine, n] : count) EXPECT_NEAR(n, 1'000, 164) << spine;
  }
}

TEST(Shape, descriptions_are_for_people) {
  EXPECT_EQ(torus({16, 8}, "split")->description(), "16x8 torus");
  EXPECT_EQ(torus({4, 3, 2}, "split")->description(), "4x3x2 torus");
  EXPECT_EQ(torus({8}, "split")->description(), "ring of 8");
  EXPECT_EQ(built("switch", 4)->description(), "4 on one switch");
  EXPECT_EQ(built("fully_connected", 4)->description(), "4 fully connected");
}

TEST(Shape, links_have_the_class_of_their_direction) {
  const ShapePtr ring = torus({4, 4, 4}, "split");
  std::set<std::string> classes;
  for (const ShapeLink& link : ring->links()) {
    const std::string name = ring->link_class(link);
    classes.insert(name);
    const std::uint32_t stride = name[0] == 'x' ? 1 : name[0] == 'y' ? 4 : 16;
    const std::uint32_t step = name[1] == '+' ? 1 : 3;
    EXPECT_EQ(link.to / stride % 4, (link.from / stride + step) % 4) << name;
  }
  EXPECT_EQ(classes, (std::set<std::string>{"x+", "x-", "y+", "y-", "z+", "z-"}));
  const ShapePtr one = built("switch", 3);
  EXPECT_STREQ(one->link_class(one->links()[one->next(0, 2, 0)]), "up");
  EXPECT_STREQ(one->link_class(one->links()[one->next(3, 2, 0)]), "down");
}

TEST(ShapeDeathTest, sizes_that_do_not_multiply_out_abort) {
  EXPECT_DEATH(built("torus, dims: [3, 3]", 8), "product == endpoints");
  EXPECT_DEATH(built("switch", 1), "endpoints >= 2");
}

}  // namespace
}  // namespace weft::shape_test
