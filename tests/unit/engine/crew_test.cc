// A crew does each piece once, with as many members as are asked for.
#include "sim/engine/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weft::crew_test {
namespace {

using namespace std::chrono_literals;

TEST(Crew, does_each_piece_once) {
  for (const std::uint32_t members : {1U, 2U, 5U}) {
    Crew crew(members);
    for (std::uint32_t threads = 0; threads < 7; ++threads) {
      std::vector<int> done(members);
      crew.do_together(threads, [&done](std::uint32_t piece) { done[piece] += 1; });
      EXPECT_EQ(done, std::vector<int>(members, 1)) << members;
    }
  }
}

// A member that comes late, or was left out, must not do a piece of a later call twice, or none.
TEST(Crew, has_other_members_at_work_each_time) {
  Crew crew(4);
  std::vector<std::uint64_t> done(4);
  for (std::uint32_t call = 0; call < 20'000; ++call) {
    crew.do_together(1 + call % 4, [&done](std::uint32_t piece) { done[piece] += 1; });
  }
  EXPECT_EQ(done, std::vector<std::uint64_t>(4, 20'000));
}

// Both pieces wait for each other, so each has a thread of its own.
TEST(Crew, works_at_the_same_time) {
  Crew crew(2);
  for (int call = 0; call < 3; ++call) {
    std::atomic<int> begun = 0;
    crew.do_together(2, [&begun](std::uint32_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(begun, 2);
    std::this_thread::sleep_for(30ms);  // the other one sleeps meanwhile
  }
}

TEST(Crew, throws_what_a_member_has_thrown_and_goes_on) {
  Crew crew(3);
  for (std::uint32_t thrower = 0; thrower < 3; ++thrower) {
    const auto throws = [thrower](std::uint32_t piece) {
      if (piece == thrower) throw std::runtime_error("no memory");
    };
    EXPECT_THROW(crew.do_together(3, throws), std::runtime_error);
    std::vector<int> done(3);
    crew.do_together(3, [&done](std::uint32_t piece) { done[piece] += 1; });
    EXPECT_EQ(done, std::vector<int>(3, 1));
  }
}

}  // namespace
}  // namespace weft::crew_test
