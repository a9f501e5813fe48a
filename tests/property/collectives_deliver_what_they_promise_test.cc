// Whatever the order in which messages arrive, every rank ends with what its collective promises.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/property/cases.h"
#include "tests/property/random_plan.h"
#include "tests/property/tokens.h"

namespace weft::collectives_deliver_what_they_promise_test {
namespace {

std::string any(std::uint64_t seed) { return RandomPlan(seed).text(); }

TEST(Collectives, every_rank_ends_with_what_was_promised) {
  for_each_seed(6000, any, [](std::uint64_t seed, const std::string&) {
    EXPECT_EQ(problem_of(RandomPlan(seed).plan(), seed), "");
  });
}

TEST(Collectives, every_arrival_is_taken_in_once_by_its_receiver_and_later) {
  for_each_seed(2000, any, [](std::uint64_t seed, const std::string&) {
    const Plan plan = RandomPlan(seed).plan();
    const Dependencies waits = dependencies(plan);
    const std::size_t transfers = plan.transfers.size();
    std::vector<std::uint32_t> counted(transfers + waits.finals.size());
    std::vector<std::uint32_t> kinds(counted.size());  // 1: replaces, 2: adds
    for (std::uint32_t t = 0; t < transfers; ++t) {
      const std::uint32_t waiter = waits.taken_in_by[t];
      ASSERT_LT(waiter, counted.size());
      EXPECT_GT(waiter, t);
      ++counted[waiter];
      kinds[waiter] |= plan.transfers[t].arrival == Arrival::adds ? 2U : 1U;
      EXPECT_EQ(plan.transfers[t].to, waiter < transfers ? plan.transfers[waiter].from
                                                         : waits.finals[waiter - transfers].rank);
    }
    for (std::uint32_t w = 0; w < counted.size(); ++w) {
      EXPECT_EQ(counted[w],
                w < transfers ? waits.arrivals[w] : waits.finals[w - transfers].arrivals);
      EXPECT_NE(kinds[w], 3U) << "waiter " << w << " both copies and adds";
    }
  });
}

TEST(Collectives, the_blocks_of_a_buffer_sum_up_to_it) {
  for_each_seed(1000, any, [](std::uint64_t seed, const std::string&) {
    const Plan plan = RandomPlan(seed).plan();
    if (!plan.pair_bytes.empty()) return;
    const Bytes buffer = bytes(Rng(seed, "buffer").between(1, 1'000'000));
    Bytes sum;
    for (std::uint32_t b = 0; b < plan.blocks; ++b) {
      sum += bytes_of(plan, {.from = 0, .to = 1, .block = b}, buffer);
    }
    EXPECT_EQ(sum, buffer);
    const auto blocks = static_cast<std::uint16_t>(plan.blocks);
    const Transfer whole{.from = 0, .to = 1, .block = 0, .blocks = blocks};
    EXPECT_EQ(bytes_of(plan, whole, buffer), buffer);
  });
}

}  // namespace
}  // namespace weft::collectives_deliver_what_they_promise_test
