// A crew does each piece once, with as many members as are asked for.
#include "sim/engine/crew.h"

#include <gtest/gtest.h>

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
    for (std::uint32_t pieces = 0; pieces < 12; ++pieces) {
      std::vector<int> done(pieces);
      crew.do_together(members, pieces, [&done](std::uint32_t piece) { done[piece] += 1; });
      EXPECT_EQ(done, std::vector<int>(pieces, 1)) << members;
    }
  }
}

// A member that was left out must not take part in a later call twice, or in none.
TEST(Crew, has_other_members_at_work_each_time) {
  Crew crew(4);
  std::vector<std::uint64_t> done(4);
  for (std::uint32_t call = 0; call < 20'000; ++call) {
    crew.do_together(1 + call % 4, 4, [&done](std::uint32_t piece) { done[piece] += 1; });
  }
  EXPECT_EQ(done, std::vector<std::uint64_t>(4, 20'000));
}

TEST(Crew, throws_what_a_member_has_thrown_and_goes_on) {
  Crew crew(3);
  for (std::uint32_t thrower = 0; thrower < 3; ++thrower) {
    const auto throws = [thrower](std::uint32_t piece) {
      if (piece == thrower) throw std::runtime_error("no memory");
    };
    EXPECT_THROW(crew.do_together(3, 3, throws), std::runtime_error);
    std::vector<int> done(3);
    crew.do_together(3, 3, [&done](std::uint32_t piece) { done[piece] += 1; });
    EXPECT_EQ(done, std::vector<int>(3, 1));
  }
}

TEST(Crew, keeps_a_piece_with_its_member) {
  Crew crew(3);
  std::vector<std::thread::id> first(3);
  crew.do_together(3, 3, [&](std::uint32_t piece) { first[piece] = std::this_thread::get_id(); });
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_NE(first[1], first[2]);
  std::vector<std::thread::id> again(3);
  crew.do_together(3, 3, [&](std::uint32_t piece) { again[piece] = std::this_thread::get_id(); });
  EXPECT_EQ(again, first);
}

TEST(Crew, wakes_up_after_a_pause) {
  Crew crew(2);
  std::vector<int> done(2);
  for (int call = 0; call < 3; ++call) {
    std::this_thread::sleep_for(30ms);
    crew.do_together(2, 2, [&done](std::uint32_t piece) { done[piece] += 1; });
  }
  EXPECT_EQ(done, std::vector<int>(2, 3));
}

TEST(Crew, does_nothing_that_the_caller_does_not_see) {
  Crew crew(3);
  std::vector<int> squares(300);
  crew.do_together(3, 300, [&squares](std::uint32_t piece) {
    squares[piece] = static_cast<int>(piece * piece);
  });
  for (int i = 0; i < 300; ++i) EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
}

}  // namespace
}  // namespace weft::crew_test
