// Worked examples of the shared server. Capacity C, demands d, D their sum; every job progresses
// slowed by m = g(D / C), g(x) = (1 + x^p)^(-1/p). With p infinite g(x) = min(1, 1/x): a corner.
#include "sim/core/shared_server.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::shared_server_test {
namespace {

const Bend& corner() {
  static const Bend bend(std::numeric_limits<double>::infinity());
  return bend;
}

SimTime at(std::int64_t ps) { return SimTime::from_count(ps); }

// Tight: settle() names `end`, at which `job` is done, and one picosecond before it is not.
void expect_done_at(SharedServer& server, SimTime now, SimTime end, std::uint32_t job) {
  EXPECT_EQ(server.settle(now), end);
  server.advance(end - picoseconds(1));
  EXPECT_EQ(server.take_done(), SharedServer::kNoJob) << "done too early";
  server.advance(end);
  EXPECT_EQ(server.take_done(), job);
}

TEST(SharedServer, a_job_alone_takes_its_duration_alone) {
  SharedServer server(1'000, &corner());
  server.add(at(50), 7, picoseconds(12'345), 1'000);
  expect_done_at(server, at(50), at(50 + 12'345), 7);
  EXPECT_EQ(server.jobs(), 0U);
}

TEST(SharedServer, nothing_happens_in_an_empty_server) {
  SharedServer server(1'000, &corner());
  EXPECT_EQ(server.settle(at(10)), SharedServer::kNever);
  EXPECT_EQ(server.take_done(), SharedServer::kNoJob);
}

TEST(SharedServer, a_job_of_no_duration_is_done_at_once) {
  SharedServer server(1'000, &corner());
  server.add(at(3), 1, picoseconds(0), 10);
  EXPECT_EQ(server.settle(at(3)), at(3));
  EXPECT_EQ(server.take_done(), 1U);
}

TEST(SharedServer, two_equal_jobs_that_each_fill_it_take_twice_as_long) {
  // D = 2 C: m = 1/2, so 1000 ps alone are 2000 ps; both are done then, the smaller number first.
  SharedServer server(1'000, &corner());
  server.add(at(0), 9, picoseconds(1'000), 1'000);
  server.add(at(0), 4, picoseconds(1'000), 1'000);
  expect_done_at(server, at(0), at(2'000), 4);
  EXPECT_EQ(server.take_done(), 9U);
  EXPECT_EQ(server.take_done(), SharedServer::kNoJob);
}

TEST(SharedServer, jobs_that_fit_beside_each_other_do_not_disturb_each_other) {
  // D = C exactly: on the corner, not beyond it.
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(300), 600);
  server.add(at(0), 2, picoseconds(500), 400);
  expect_done_at(server, at(0), at(300), 1);
  expect_done_at(server, at(300), at(500), 2);
}

TEST(SharedServer, unequal_demands_are_slowed_by_one_factor) {
  // D = 1500 + 500 = 2 C, m = 1/2: the short one ends at 2 x 400 = 800 and has drawn
  // 500 / 2 x 800 as alone 500 x 400. The long one has 1000 - 400 = 600 left, alone at
  // D / C = 3/2: m = 2/3, 600 / (2/3) = 900: it ends at 1700.
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(1'000), 1'500);
  server.add(at(0), 2, picoseconds(400), 500);
  expect_done_at(server, at(0), at(800), 2);
  // 2/3 is not a multiple of 2^-20, so the table's m is at most 2^-20 too small: 900 (1 + 1.5e-6)
  // is still the picosecond 901 at most, and never less than 900.
  const SimTime end = server.settle(at(800));
  EXPECT_GE(end, at(1'700));
  EXPECT_LE(end, at(1'701));
}

TEST(SharedServer, a_job_added_midway_slows_the_rest_of_the_first) {
  // Alone until 400, then m = 1/2: 400 + (1000 - 400) x 2 = 1600. The second has done 600 of 1000
  // then and goes on alone: 1600 + 400 = 2000, the work of both.
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(1'000), 1'000);
  EXPECT_EQ(server.settle(at(0)), at(1'000));
  server.add(at(400), 2, picoseconds(1'000), 1'000);
  expect_done_at(server, at(400), at(1'600), 1);
  expect_done_at(server, at(1'600), at(2'000), 2);
}

TEST(SharedServer, what_ends_together_is_taken_in_the_order_of_the_jobs_numbers) {
  SharedServer server(1'000, &corner());
  for (const std::uint32_t job : {5U, 3U, 8U, 1U}) server.add(at(0), job, picoseconds(100), 10);
  EXPECT_EQ(server.settle(at(0)), at(100));
  server.advance(at(100));
  for (const std::uint32_t job : {1U, 3U, 5U, 8U}) EXPECT_EQ(server.take_done(), job);
}

TEST(SharedServer, a_job_that_demands_nothing_slows_nobody) {
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(100), 1'000);
  server.add(at(0), 2, picoseconds(200), 0);
  expect_done_at(server, at(0), at(100), 1);
  expect_done_at(server, at(100), at(200), 2);
}

TEST(SharedServer, background_takes_its_rate_off_exactly) {
  // 250 of 1000 for 400 ps leave 750: m = 3/4, 300 ps of progress. Then alone: 400 + 700 = 1100.
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(1'000), 1'000);
  EXPECT_TRUE(server.add_background(at(0), 0, 250, picoseconds(400)));
  EXPECT_EQ(server.settle(at(0)), at(400));  // the end of the background speeds the job up
  expect_done_at(server, at(400), at(1'100), 1);
}

TEST(SharedServer, a_job_that_leaves_room_for_the_background_does_not_notice_it) {
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(1'000), 750);
  server.add_background(at(0), 0, 250, picoseconds(400));
  EXPECT_EQ(server.settle(at(0)), at(400));
  expect_done_at(server, at(400), at(1'000), 1);
}

TEST(SharedServer, loads_of_one_source_follow_each_other_and_are_one_beginning) {
  // Two of 200 ps, the second asked for at 100: together until 400, as in the example above.
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(1'000), 1'000);
  EXPECT_TRUE(server.add_background(at(0), 3, 250, picoseconds(200)));
  EXPECT_EQ(server.settle(at(0)), at(200));
  EXPECT_FALSE(server.add_background(at(100), 3, 250, picoseconds(200)));
  EXPECT_EQ(server.settle(at(200)), at(400));
  expect_done_at(server, at(400), at(1'100), 1);
  // What has ended begins anew.
  EXPECT_TRUE(server.add_background(at(1'100), 3, 250, picoseconds(200)));
}

TEST(SharedServer, loads_of_two_sources_add_up) {
  // 250 + 250 of 1000 leave 500 for 400 ps: 200 of progress, 1000 - 200 left: 1200.
  SharedServer server(1'000, &corner());
  server.add(at(0), 1, picoseconds(1'000), 1'000);
  server.add_background(at(0), 1, 250, picoseconds(400));
  server.add_background(at(0), 2, 250, picoseconds(400));
  EXPECT_EQ(server.settle(at(0)), at(400));
  expect_done_at(server, at(400), at(1'200), 1);
}

TEST(SharedServer, background_that_takes_everything_leaves_a_sixteenth) {
  // 1600 / 16 = 100: m = 1/16.
  SharedServer server(1'600, &corner());
  server.add(at(0), 1, picoseconds(1'000), 1'600);
  server.add_background(at(0), 0, 5'000, picoseconds(1'000'000));
  expect_done_at(server, at(0), at(16'000), 1);
}

TEST(SharedServer, background_that_comes_too_fast_is_served_later) {
  // Of 1600 background gets 1500. Two sources of 1500 for 1000 ps bring 3,000,000: at 1000 half of
  // it is served, the other half takes until 2000.
  SharedServer server(1'600, &corner());
  EXPECT_FALSE(server.can_fall_behind());
  server.add_background(at(0), 0, 1'500, picoseconds(1'000));
  EXPECT_FALSE(server.can_fall_behind());
  server.add_background(at(0), 1, 1'500, picoseconds(1'000));
  EXPECT_TRUE(server.can_fall_behind());
  EXPECT_EQ(server.behind(at(0)), picoseconds(0));
  EXPECT_EQ(server.behind(at(500)), picoseconds(500));
  EXPECT_EQ(server.behind(at(1'000)), picoseconds(1'000));
  EXPECT_EQ(server.behind(at(1'999)), picoseconds(1));
  EXPECT_EQ(server.behind(at(2'000)), picoseconds(0));
}

TEST(SharedServer, background_that_comes_while_some_is_left_counts_from_then_on) {
  // Of 1600 background gets 1500. Two sources of 1000 leave 50,000 at 100, 20,000 at 120: 13.3 ps.
  SharedServer server(1'600, &corner());
  server.add_background(at(0), 0, 1'000, picoseconds(100));
  server.add_background(at(0), 1, 1'000, picoseconds(100));
  server.settle(at(0));
  server.advance(at(100));
  server.settle(at(100));
  server.add_background(at(120), 2, 1'000, picoseconds(100));
  EXPECT_EQ(server.behind(at(120)), picoseconds(14));
}

TEST(SharedServer, jobs_get_a_sixteenth_until_all_background_is_served) {
  // As above. The job draws 200,000 in all: 100 a picosecond until all is served at 2000.
  SharedServer server(1'600, &corner());
  server.add(at(0), 7, picoseconds(125), 1'600);
  server.add_background(at(0), 0, 1'500, picoseconds(1'000));
  server.add_background(at(0), 1, 1'500, picoseconds(1'000));
  EXPECT_EQ(server.settle(at(0)), at(1'000));
  expect_done_at(server, at(1'000), at(2'000), 7);
  // One of 360,000 draws the last 160,000 of them with all there is.
  SharedServer longer(1'600, &corner());
  longer.add(at(0), 7, picoseconds(225), 1'600);
  longer.add_background(at(0), 0, 1'500, picoseconds(1'000));
  longer.add_background(at(0), 1, 1'500, picoseconds(1'000));
  EXPECT_EQ(longer.settle(at(0)), at(1'000));
  EXPECT_EQ(longer.settle(at(1'000)), at(2'000));
  expect_done_at(longer, at(2'000), at(2'100), 7);
}

TEST(SharedServer, background_without_jobs_is_forgotten_when_it_is_over) {
  SharedServer server(1'000, &corner());
  server.add_background(at(0), 0, 250, picoseconds(400));
  EXPECT_EQ(server.settle(at(0)), SharedServer::kNever);
  server.add(at(400), 1, picoseconds(1'000), 1'000);
  expect_done_at(server, at(400), at(1'400), 1);
}

TEST(SharedServer, times_of_minutes_and_servers_of_petabytes_do_not_overflow) {
  // 2^48 ps are 281 s; the capacity, 2^42 kB/s, is 4.4 PB/s. Two jobs of half of it: no slowing.
  SharedServer server(1ULL << 42U, &corner());
  server.add(at(0), 1, picoseconds(1LL << 48U), UINT32_MAX);
  expect_done_at(server, at(0), at(1LL << 48U), 1);
}

TEST(SharedServer, the_slower_the_jobs_the_coarser_their_slow_down) {
  // x = C / D is kept in steps of 2^-20, rounded down, so m is too small by D / C x 2^-20 at most:
  // one part in a million just beyond the corner, one in a thousand at D / C = 1000.
  for (const std::uint32_t overload : {2U, 3U, 10U, 100U, 1'000U}) {
    SharedServer server(1'000, &corner());
    server.add(at(0), 1, picoseconds(1'000'000'000), 1'000 * overload);
    const double slower = static_cast<double>(server.settle(at(0)).count()) / 1e9 / overload;
    EXPECT_GE(slower, 1.0) << overload;
    EXPECT_LE(slower, 1.0 + overload * 0x1p-20 * 1.01) << overload;
  }
}

TEST(SharedServerDeathTest, time_does_not_run_backwards) {
  SharedServer server(1'000, &corner());
  server.advance(at(10));
  EXPECT_DEATH(server.advance(at(9)), "now >= last_");
  EXPECT_DEATH(server.add(at(9), 1, picoseconds(1), 1), "now >= last_");
  EXPECT_DEATH(server.add(at(10), 1, picoseconds(-1), 1), "alone.count");
}

TEST(Bend, what_is_delivered_of_demand_d_is_capacity_times_g_and_bends_from_d_to_the_capacity) {
  for (const double p : {1.0, 1.5, 2.0, 4.0, 8.0}) {
    const Bend bend(p);
    constexpr std::uint64_t kCapacity = 1'000'000;
    for (const std::uint64_t demand : {1'000ULL, 250'000ULL, 500'000ULL, 999'999ULL, 1'000'000ULL,
                                       1'000'001ULL, 2'000'000ULL, 3'500'000ULL}) {
      const double x = static_cast<double>(demand) / kCapacity;
      const double g = std::pow(1 + std::pow(x, p), -1 / p);
      const double got =
          static_cast<double>(bend.slowdown(demand, kCapacity)) / static_cast<double>(Bend::kOne);
      // Steps of 2^-10, linear between: h^2/8 x g'' < 1.2e-7 x p; x in steps of 2^-20: 1e-6 x D /
      // C.
      EXPECT_NEAR(got / g, 1.0, 1.2e-7 * p + 1e-6 * std::max(1.0, x)) << p << ' ' << x;
    }
  }
}

TEST(Bend, at_the_knee_of_exponent_one_half_is_delivered) {
  // x = 1: g = 2^(-1/p): 1/2 for p = 1, 1/sqrt(2) for p = 2.
  EXPECT_EQ(Bend(1).slowdown(10, 10), Bend::kOne / 2);
  const double two =
      static_cast<double>(Bend(2).slowdown(10, 10)) / static_cast<double>(Bend::kOne);
  EXPECT_NEAR(two, std::sqrt(0.5), 1e-9);
}

TEST(Bend, no_demand_is_not_slowed_and_more_demand_never_speeds_up) {
  for (const double p : {1.0, 2.0, 100.0}) {
    const Bend bend(p);
    EXPECT_EQ(bend.slowdown(0, 1'000), Bend::kOne);
    std::uint64_t before = Bend::kOne;
    for (std::uint64_t demand = 0; demand < 5'000; ++demand) {
      const std::uint64_t now = bend.slowdown(demand, 1'000);
      ASSERT_LE(now, before) << p << ' ' << demand;
      before = now;
    }
    EXPECT_GE(bend.slowdown(UINT64_MAX >> 21U, 1), 1U);  // never to a standstill
  }
}

TEST(BendDeathTest, an_exponent_below_one_aborts) { EXPECT_DEATH(Bend(0.5), "exponent >= 1.0"); }

}  // namespace
}  // namespace weft::shared_server_test
