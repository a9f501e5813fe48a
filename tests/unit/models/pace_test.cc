// How fast a run goes that lies beside others.
#include "sim/models/pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::pace_test {
namespace {

SimTime at(std::int64_t us) { return SimTime{} + microseconds(us); }

// Twice as long beside another, from 10 us to 30 us: 10 us, then 20 us for 10 us, then as alone.
TEST(Pace, is_that_of_what_lies_beside_a_run_at_the_time) {
  const Pace pace({{microseconds(10), microseconds(30), 2 * kAsAlone}});
  EXPECT_EQ(pace.after(microseconds(10)), microseconds(10));
  EXPECT_EQ(pace.after(microseconds(15)), microseconds(20));
  EXPECT_EQ(pace.after(microseconds(20)), microseconds(30));
  EXPECT_EQ(pace.after(microseconds(50)), microseconds(60));
}

// Half as long again for each: twice as long beside both.
TEST(Pace, adds_what_several_cost) {
  const Slowdown half = kAsAlone + kAsAlone / 2;
  const Pace pace({{Duration{}, microseconds(30), half}, {Duration{}, microseconds(90), half}});
  EXPECT_EQ(pace.after(microseconds(15)), microseconds(30));
  EXPECT_EQ(pace.after(microseconds(55)), microseconds(90));
  EXPECT_EQ(pace.after(microseconds(60)), microseconds(95));
}

TEST(Pace, what_has_ended_before_a_run_begins_costs_nothing) {
  const Pace pace({{Duration{} - microseconds(100), Duration{}, 2 * kAsAlone}});
  EXPECT_TRUE(pace.is_as_alone());
  EXPECT_EQ(pace.after(microseconds(7)), microseconds(7));
}

// 40 us of computing, 20 us exposed on two GPUs each, half as long again: all parts of the time
// still add up.
TEST(Pace, times_add_up_at_it) {
  RunResult alone;
  alone.time = microseconds(60);
  alone.gpus.resize(2);
  for (GpuUse& gpu : alone.gpus) {
    gpu.end = at(60);
    gpu.computing = microseconds(40);
    gpu.active = microseconds(60);
  }
  alone.parts = {{"mlp", microseconds(50), microseconds(10)},
                 {"send", microseconds(30), microseconds(30)}};
  alone.operators.resize(1);
  alone.operators[0].exposed = microseconds(40);
  alone.operators[0].critical = microseconds(59);
  alone.path_gaps = microseconds(1);
  ExitUse exit;
  exit.end = at(30);
  exit.critical = {microseconds(29)};
  exit.path_gaps = microseconds(1);
  alone.exits = {exit};
  const Pace pace({{Duration{}, microseconds(500), kAsAlone + kAsAlone / 2}});
  const RunResult slowed = at_pace(alone, pace);
  EXPECT_EQ(slowed.time, microseconds(90));
  EXPECT_EQ(slowed.gpus[1].end, at(90));
  EXPECT_EQ(slowed.gpus[0].computing + slowed.gpus[1].computing, microseconds(120));
  EXPECT_EQ(slowed.parts[0].computing + slowed.parts[1].computing, microseconds(120));
  EXPECT_EQ(slowed.operators[0].exposed, microseconds(60));
  EXPECT_EQ(slowed.operators[0].critical + slowed.path_gaps, slowed.time);
  EXPECT_EQ(slowed.exits[0].end, at(45));
  EXPECT_EQ(slowed.exits[0].critical[0] + slowed.exits[0].path_gaps, microseconds(45));
}

// One GPU has ended after 20 us, before anything is beside the run: it keeps its times, and the
// other's are as long as its end says.
TEST(Pace, changes_nothing_on_a_gpu_that_has_ended_before) {
  RunResult alone;
  alone.time = microseconds(60);
  alone.gpus.resize(2);
  for (const int gpu : {0, 1}) {
    GpuUse& use = alone.gpus[static_cast<std::size_t>(gpu)];
    use.end = at(gpu == 0 ? 20 : 60);
    use.active = use.computing = use.end - SimTime{};
  }
  alone.parts = {{"mlp", microseconds(80), Duration{}}};
  const RunResult slowed =
      at_pace(alone, Pace({{microseconds(20), microseconds(100), 2 * kAsAlone}}));
  EXPECT_EQ(slowed.gpus[0].active, microseconds(20));
  EXPECT_EQ(slowed.gpus[1].active, microseconds(100));
  EXPECT_EQ(slowed.parts[0].computing, microseconds(120));
}

// Of 10^8 GPUs, whose times add up to more than fits.
TEST(Pace, sums_stay_at_the_largest_value) {
  RunResult alone;
  alone.time = microseconds(60);
  alone.gpus.resize(1);
  alone.gpus[0].end = at(60);
  alone.gpus[0].computing = alone.gpus[0].active = alone.time;
  alone.parts = {{"mlp", picoseconds(INT64_MAX - 1), Duration{}}, {"more", microseconds(9), {}}};
  const RunResult slowed = at_pace(alone, Pace({{Duration{}, microseconds(500), 2 * kAsAlone}}));
  EXPECT_EQ(slowed.parts[0].computing, picoseconds(INT64_MAX));
  EXPECT_EQ(slowed.parts[1].computing, Duration{});
}

}  // namespace
}  // namespace weft::pace_test
