// The token check can fail: plans and dependencies with one thing wrong are reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/property/random_plan.h"
#include "tests/property/tokens.h"

namespace weft::broken_collectives_are_found_test {
namespace {

// Plans with some transfer between some ranks.
template <class Test>
void for_some_plans(Test test) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const RandomPlan random(seed);
    if (random.plan().transfers.empty()) continue;
    SCOPED_TRACE(random.text());
    test(random.plan(), seed);
  }
}

bool any_order_fails(const Plan& plan, const Dependencies& waits) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    if (!Tokens(plan).run(waits, Rng(seed, "tokens")).empty()) return true;
  }
  return false;
}

TEST(BrokenCollectives, a_transfer_that_is_missing_is_found) {
  for_some_plans([](Plan plan, std::uint64_t seed) {
    const auto last = static_cast<std::int64_t>(plan.transfers.size()) - 1;
    plan.transfers.erase(plan.transfers.begin() + Rng(seed, "drop").between(0, last));
    EXPECT_NE(problem_of(plan, seed), "");
  });
}

TEST(BrokenCollectives, a_transfer_that_is_added_up_twice_is_found) {
  for_some_plans([](Plan plan, std::uint64_t seed) {
    const auto last = static_cast<std::int64_t>(plan.transfers.size()) - 1;
    const auto which = plan.transfers.begin() + Rng(seed, "double").between(0, last);
    if (which->arrival == Arrival::replaces) return;
    plan.transfers.insert(which, *which);
    EXPECT_NE(problem_of(plan, seed), "");
  });
}

TEST(BrokenCollectives, replacing_what_should_be_added_is_found) {
  for_some_plans([](Plan plan, std::uint64_t seed) {
    const auto last = static_cast<std::int64_t>(plan.transfers.size()) - 1;
    const auto which = plan.transfers.begin() + Rng(seed, "replace").between(0, last);
    if (which->arrival == Arrival::replaces) return;
    which->arrival = Arrival::replaces;
    EXPECT_NE(problem_of(plan, seed), "");
  });
}

// A sum may be added up elsewhere and still be right; a copy must go where it is missing.
TEST(BrokenCollectives, a_copy_to_another_rank_is_found) {
  for_some_plans([](Plan plan, std::uint64_t seed) {
    if (plan.ranks < 3) return;
    const auto last = static_cast<std::int64_t>(plan.transfers.size()) - 1;
    Transfer& which = plan.transfers[static_cast<std::size_t>(Rng(seed, "to").between(0, last))];
    if (which.arrival == Arrival::adds) return;
    do which.to = (which.to + 1) % plan.ranks;
    while (which.to == which.from);
    EXPECT_NE(problem_of(plan, seed), "");
  });
}

// The first transfer that needs what a transfer brings, moved in front of that.
TEST(BrokenCollectives, a_transfer_before_what_it_needs_is_found) {
  std::size_t moved = 0;
  for_some_plans([&](Plan plan, std::uint64_t) {
    const Dependencies waits = dependencies(plan);
    for (std::size_t t = 0; t < plan.transfers.size(); ++t) {
      const std::uint32_t waiter = waits.taken_in_by[t];
      if (waiter >= plan.transfers.size()) continue;
      const auto begin = plan.transfers.begin();
      const auto from = begin + static_cast<std::ptrdiff_t>(waiter);
      std::rotate(begin + static_cast<std::ptrdiff_t>(t), from, from + 1);
      EXPECT_TRUE(any_order_fails(plan, dependencies(plan)));
      ++moved;
      return;
    }
  });
  EXPECT_GT(moved, 50U);
}

TEST(BrokenCollectives, a_transfer_that_does_not_wait_is_found) {
  std::size_t hastened = 0;
  for_some_plans([&](const Plan& plan, std::uint64_t seed) {
    Dependencies waits = dependencies(plan);
    std::vector<std::size_t> waiting;
    for (std::size_t t = 0; t < plan.transfers.size(); ++t) {
      if (waits.arrivals[t] > 0) waiting.push_back(t);
    }
    if (waiting.empty()) return;
    const auto last = static_cast<std::int64_t>(waiting.size()) - 1;
    --waits.arrivals[waiting[static_cast<std::size_t>(Rng(seed, "haste").between(0, last))]];
    EXPECT_TRUE(any_order_fails(plan, waits));
    ++hastened;
  });
  EXPECT_GT(hastened, 50U);
}

// Rank 0 sends its block 1 to rank 1, then rank 2 adds to that block of rank 0. In the order of the
// list all is well, but the second does not depend on the first: if it arrives early, it is sent
// on.
TEST(BrokenCollectives, a_place_that_changes_before_it_was_read_is_found) {
  Plan plan = reduce_scatter(Scheme::direct, identity_order(3));
  const auto to_owner = std::find(plan.transfers.begin(), plan.transfers.end(),
                                  Transfer{0, 1, 1, 1, Arrival::adds, Source::held});
  ASSERT_NE(to_owner, plan.transfers.end());
  const auto which = to_owner - plan.transfers.begin();
  plan.transfers.insert(to_owner + 1, {2, 0, 1, 1, Arrival::adds, Source::own});
  EXPECT_TRUE(any_order_fails(plan, dependencies(plan)));
  plan.transfers[static_cast<std::size_t>(which)].source = Source::own;
  EXPECT_FALSE(any_order_fails(plan, dependencies(plan)));
}

}  // namespace
}  // namespace weft::broken_collectives_are_found_test
