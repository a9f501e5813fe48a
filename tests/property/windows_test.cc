// Events of nodes in windows, node by node, give what all events in one order give: to the last
// byte, whatever the order of ties, and also where a run stops early.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/rng.h"
#include "sim/engine/places.h"
#include "sim/engine/windowed_run.h"
#include "sim/scenario/modes.h"
#include "tests/property/cases.h"
#include "tests/property/describe.h"
#include "tests/property/random_scenario.h"

namespace weft::windows_test {
namespace {

std::string any(std::uint64_t seed) { return RandomScenario(seed).any(); }

RunResult run(const Prepared& prepared, Queues queues, const RunOptions& how) {
  RunOptions options = how;
  options.queues = queues;
  return simulate(prepared.cluster, prepared.graph, options);
}

void expect_same(const Prepared& prepared, const RunOptions& how) {
  const RunResult windows = run(prepared, Queues::by_place, how);
  const RunResult one = run(prepared, Queues::one, how);
  EXPECT_EQ(windows.ending, one.ending);
  EXPECT_EQ(windows.stopped_because, one.stopped_because);
  EXPECT_EQ(text_of(windows), text_of(one)) << name_of(prepared.mode);
}

bool has_windows(const Prepared& prepared) {
  const Transport transport(prepared.cluster.network);
  return places_of(prepared.cluster, prepared.graph, transport).count > 1;
}

TEST(Windows, give_what_one_queue_gives) {
  int in_windows = 0;
  int runs = 0;
  for_each_seed(1000, any, [&](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      expect_same(prepared, prepared.scenario.run);
      in_windows += has_windows(prepared) ? 1 : 0;
      runs += 1;
    }
  });
  if (runs > 100) {
    EXPECT_GT(in_windows, runs / 2);
  }
}

TEST(Windows, give_what_one_queue_gives_with_shuffled_ties) {
  for_each_seed(400, any, [](std::uint64_t seed, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      RunOptions options = prepared.scenario.run;
      for (std::uint64_t shuffle = 1; shuffle <= 2; ++shuffle) {
        options.tie_shuffle = mix64(seed * 16 + shuffle);
        expect_same(prepared, options);
      }
    }
  });
}

TEST(Windows, stop_where_one_queue_stops) {
  for_each_seed(200, any, [](std::uint64_t seed, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult whole = run(prepared, Queues::one, prepared.scenario.run);
      Rng rng(seed, "stop");
      RunOptions options = prepared.scenario.run;
      options.max_events = rng.between(1, static_cast<std::int64_t>(whole.events) + 1);
      expect_same(prepared, options);
      options.max_events = prepared.scenario.run.max_events;
      options.max_time = picoseconds(rng.between(1, whole.time.count() + 1));
      expect_same(prepared, options);
    }
  });
}

// A message then waits for the memory of its sender too, on another node: only one queue knows.
TEST(Windows, give_what_one_queue_gives_where_memories_fall_behind_links) {
  for_each_seed(200, any, [](std::uint64_t, const std::string& text) {
    for (Prepared& prepared : prepare(text)) {
      prepared.cluster.spec.gpu.memory.bandwidth = bytes_per_second(3'000'000'000);
      expect_same(prepared, prepared.scenario.run);
    }
  });
}

// The cluster in `count` shares, each on a core in every window; none: one queue has to repeat the
// run.
std::optional<Recorded> in_shares(const Prepared& prepared, std::uint32_t count,
                                  const RunOptions& options) {
  const Transport transport(prepared.cluster.network);
  Places places = places_of(prepared.cluster, prepared.graph, transport);
  if (places.count < 2 || places.lookahead < WindowQueue::kLeastLookahead) return std::nullopt;
  Shares shares = shares_of(std::move(places), prepared.cluster, prepared.graph, count);
  const RecordOptions record;
  return WindowedRun(prepared.cluster, prepared.graph, options, std::move(shares), &record, 1)
      .run({});
}

std::vector<std::int64_t> amounts_of(const Recorded& recorded) {
  std::vector<std::int64_t> all;
  const Intervals& amounts = recorded.recording.amounts;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    for (std::size_t track = 0; track < amounts.tracks(); ++track) {
      all.push_back(amounts.amount(i, track));
    }
  }
  return all;
}

TEST(Windows, record_what_one_queue_records) {
  for_each_seed(200, any, [](std::uint64_t, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      RunOptions options = prepared.scenario.run;
      const Recorded windows = simulate_and_record(prepared.cluster, prepared.graph, options, {});
      options.queues = Queues::one;
      const Recorded one = simulate_and_record(prepared.cluster, prepared.graph, options, {});
      EXPECT_EQ(text_of(windows.result), text_of(one.result));
      EXPECT_EQ(windows.recording.amounts.length(), one.recording.amounts.length());
      EXPECT_EQ(amounts_of(windows), amounts_of(one));
    }
  });
}

TEST(Windows, of_several_cores_give_what_one_queue_gives) {
  int shared = 0;
  int runs = 0;
  for_each_seed(60, any, [&](std::uint64_t seed, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      RunOptions options = prepared.scenario.run;
      options.tie_shuffle = mix64(seed);
      options.queues = Queues::one;
      const Recorded one = simulate_and_record(prepared.cluster, prepared.graph, options, {});
      runs += 1;
      for (const std::uint32_t count : {2U, 3U, 100U}) {
        const std::optional<Recorded> some = in_shares(prepared, count, options);
        if (!some) continue;
        shared += 1;
        EXPECT_EQ(text_of(some->result), text_of(one.result)) << name_of(prepared.mode);
        EXPECT_EQ(amounts_of(*some), amounts_of(one)) << name_of(prepared.mode);
      }
    }
  });
  if (runs > 100) {
    EXPECT_GT(shared, runs);
  }
}

TEST(Windows, of_several_cores_stop_where_one_queue_stops) {
  const auto expect_same_end = [](const Prepared& prepared, const RunOptions& options) {
    const std::optional<Recorded> some = in_shares(prepared, 3, options);
    if (!some) return;
    const RunResult one = run(prepared, Queues::one, options);
    EXPECT_EQ(some->result.ending, one.ending);
    EXPECT_EQ(some->result.stopped_because, one.stopped_because);
    EXPECT_EQ(text_of(some->result), text_of(one));
  };
  for_each_seed(60, any, [&](std::uint64_t seed, const std::string& text) {
    for (const Prepared& prepared : prepare(text)) {
      const RunResult whole = run(prepared, Queues::one, prepared.scenario.run);
      Rng rng(seed, "stop");
      RunOptions options = prepared.scenario.run;
      options.max_time = picoseconds(rng.between(1, whole.time.count() + 1));
      expect_same_end(prepared, options);
      options = prepared.scenario.run;
      options.max_events = rng.between(1, static_cast<std::int64_t>(whole.events) + 1);
      expect_same_end(prepared, options);
    }
  });
}

TEST(Windows, of_several_cores_leave_memories_that_fall_behind_to_one_queue) {
  for_each_seed(60, any, [](std::uint64_t, const std::string& text) {
    for (Prepared& prepared : prepare(text)) {
      prepared.cluster.spec.gpu.memory.bandwidth = bytes_per_second(3'000'000'000);
      const std::optional<Recorded> some = in_shares(prepared, 3, prepared.scenario.run);
      if (!some) continue;
      EXPECT_EQ(text_of(some->result), text_of(run(prepared, Queues::one, prepared.scenario.run)));
    }
  });
}

}  // namespace
}  // namespace weft::windows_test
