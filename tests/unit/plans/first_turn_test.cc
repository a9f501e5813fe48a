// The first ranks of a ring, which stand for all, do what they do in the whole ring.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/plans/algorithm.h"

namespace weft::first_turn_test {
namespace {

// Of nodes of `per_node` ranks and as many NICs.
struct Ring {
  std::uint32_t ranks;
  std::uint32_t per_node;
  std::uint32_t first;
};

std::vector<Plan> plans_of(CollectiveOp op, const Ring& ring, bool first) {
  return spec_of(Algorithm::ring)
      .plans({.op = op,
              .ranks = ring.ranks,
              .planned = first ? ring.first : 0,
              .per_node = ring.per_node,
              .nics = ring.per_node});
}

// What a rank does in turn, as seen from where it is: how far it sends, which block, whether it
// waits, and where in the order of what the receiver does it is taken in.
struct Seen {
  std::uint32_t far = 0;
  std::uint32_t block = 0;
  std::uint32_t arrivals = 0;
  std::uint32_t taken_in = 0;
  bool operator==(const Seen&) const = default;
};

std::vector<std::vector<Seen>> seen(const Plan& plan, const Ring& ring) {
  const Dependencies waits = dependencies(plan);
  const Programs order = programs(plan);
  std::vector<std::uint32_t> place(plan.transfers.size() + waits.finals.size());
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    for (std::uint32_t i = order.first[rank]; i < order.first[rank + 1]; ++i) {
      place[order.transfers[i]] = i - order.first[rank];
    }
  }
  std::vector<std::uint32_t> finals(plan.ranks, 1'000);  // after all that is sent
  for (std::size_t f = 0; f < waits.finals.size(); ++f) {
    place[plan.transfers.size() + f] = finals[waits.finals[f].rank]++;
  }
  std::vector<std::vector<Seen>> all(ring.first);
  for (std::uint32_t rank = 0; rank < ring.first; ++rank) {
    for (std::uint32_t i = order.first[rank]; i < order.first[rank + 1]; ++i) {
      const Transfer& t = plan.transfers[order.transfers[i]];
      all[rank].push_back({.far = (t.to + ring.ranks - rank) % ring.ranks,
                           .block = (t.block + ring.ranks - rank) % ring.ranks,
                           .arrivals = waits.arrivals[order.transfers[i]],
                           .taken_in = place[waits.taken_in_by[order.transfers[i]]]});
    }
  }
  return all;
}

TEST(FirstTurn, does_what_it_does_in_the_whole_ring) {
  for (const Ring& ring : {Ring{.ranks = 6, .per_node = 1, .first = 2},
                           Ring{.ranks = 24, .per_node = 4, .first = 8}}) {
    for (const CollectiveOp op :
         {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
      const std::vector<Plan> whole = plans_of(op, ring, false);
      const std::vector<Plan> first = plans_of(op, ring, true);
      ASSERT_EQ(first.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(first[i].ranks, ring.first);
        EXPECT_EQ(first[i].blocks, ring.ranks);
        EXPECT_EQ(first[i].transfers.size() * ring.ranks, whole[i].transfers.size() * ring.first);
        EXPECT_EQ(seen(first[i], ring), seen(whole[i], ring));
        EXPECT_EQ(steps(first[i]), steps(whole[i]));
      }
    }
  }
}

}  // namespace
}  // namespace weft::first_turn_test
