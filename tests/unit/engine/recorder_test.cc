// What a run leaves behind of when things happened, on graphs whose times are known.
#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::recorder_test {
namespace {

Recorded recorded(const Scenario& scenario, const TaskGraph& graph, Detail detail,
                  std::size_t most = 1000) {
  graph.verify();
  return simulate_and_record(build_cluster(scenario.cluster), graph, scenario.run,
                             {.detail = detail, .most = most});
}

std::int64_t sum_of(const Intervals& amounts, std::size_t track) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) sum += amounts.amount(i, track);
  return sum;
}

// GPU 0 works for 1 us and stores 50 kB into GPU 1, where a WG waits for them and works for 2 us.
// The link has 50 GB/s and 500 ns: the last byte is there at 1 + 1 + 0.5 = 2.5 us, the end is at
// 4.5 us.
TaskGraph one_after_the_other() {
  HandMade made;
  const std::uint32_t one = made.takes(microseconds(1));
  const std::uint32_t two = made.takes(microseconds(2));
  const LatchId there = made.graph.add_latch(1);
  const LatchId done = made.sends({.to = 1, .size = 50'000, .arrives = there});
  made.kernel(plain(0), {HandMade::item(one, done)});
  made.kernel(plain(1), {HandMade::item(two, LatchId::none(), there)});
  return made.graph;
}

TEST(Recorder, keeps_kernels_wgs_waits_and_messages) {
  const Recorded done = recorded(one_node(), one_after_the_other(), Detail::all);
  ASSERT_EQ(done.result.ending, Ending::finished) << done.result.stopped_because;
  EXPECT_EQ(done.result.time, nanoseconds(4'500));
  const Recording& recording = done.recording;
  ASSERT_EQ(recording.kernels.size(), 2U);
  EXPECT_EQ(recording.kernels[1].gpu, 1U);
  EXPECT_EQ(recording.kernels[1].end - recording.kernels[1].start, nanoseconds(4'500));
  ASSERT_EQ(recording.wgs.size(), 3U);  // by end: work, waiting for its result, work
  EXPECT_EQ(recording.wgs[0].end, SimTime{} + microseconds(1));
  EXPECT_EQ(recording.wgs[0].item, 0U);
  EXPECT_EQ(recording.wgs[1].item, WgRecord::kWaits);
  EXPECT_EQ(recording.wgs[1].waits_for, Wait::flag);
  EXPECT_EQ(recording.wgs[1].start, SimTime{});
  EXPECT_EQ(recording.wgs[1].end, SimTime{} + nanoseconds(2'500));
  EXPECT_EQ(recording.wgs[2].start, SimTime{} + nanoseconds(2'500));
  EXPECT_EQ(recording.wgs[2].end, SimTime{} + nanoseconds(4'500));
  ASSERT_EQ(recording.messages.size(), 1U);
  EXPECT_EQ(recording.messages[0].posted, SimTime{} + microseconds(1));
  EXPECT_EQ(recording.messages[0].arrived, SimTime{} + nanoseconds(2'500));
  EXPECT_EQ(recording.messages[0].wg, 0U);
  EXPECT_EQ(recording.messages[0].to, 1U);
  EXPECT_FALSE(recording.full);
}

// 4.5 us are 282 intervals of 16 ns: 512 of 8 ns would end at 4.096 us.
TEST(Recorder, says_when_cus_and_links_were_busy) {
  const Recorded done = recorded(one_node(), one_after_the_other(), Detail::intervals);
  const Intervals& amounts = done.recording.amounts;
  EXPECT_EQ(amounts.length(), nanoseconds(16));
  ASSERT_EQ(amounts.size(), 282U);
  EXPECT_EQ(amounts.until(281), SimTime{} + nanoseconds(4'500));
  const std::size_t links = Tracks::of_class(0);
  const auto at = [&](std::int64_t ns) { return static_cast<std::size_t>(ns / 16); };
  EXPECT_EQ(amounts.amount(at(512), Tracks::cu_time()), 16'000);
  EXPECT_EQ(amounts.amount(at(512), links), 0);
  EXPECT_EQ(amounts.amount(at(1'520), Tracks::cu_time()), 0);
  EXPECT_EQ(amounts.amount(at(1'520), links), 16'000);  // booked at 1 us, busy until 2 us
  EXPECT_EQ(amounts.amount(at(2'100), links), 0);
  EXPECT_EQ(amounts.amount(at(3'200), Tracks::cu_time()), 16'000);
  EXPECT_EQ(sum_of(amounts, Tracks::cu_time()), microseconds(3).count());
  EXPECT_EQ(sum_of(amounts, links), microseconds(1).count());
  EXPECT_TRUE(done.recording.kernels.empty());
}

// A WG alone, whose bytes move from start to end: a megabyte in 10 us is 1,600 bytes in 16 ns.
TEST(Recorder, spreads_the_bytes_of_an_item_over_its_time) {
  HandMade made;
  Work work;
  work.traffic = bytes(1'000'000);
  work.memory_alone = microseconds(10);
  made.kernel(plain(0), {HandMade::item(made.add(work))});
  const Recorded done = recorded(one_node(), made.graph, Detail::kernels);
  const Intervals& amounts = done.recording.amounts;
  EXPECT_EQ(sum_of(amounts, Tracks::hbm_bytes()), 1'000'000);
  EXPECT_EQ(sum_of(amounts, done.recording.tracks.hbm_bytes(0)), 1'000'000);
  EXPECT_EQ(sum_of(amounts, done.recording.tracks.hbm_bytes(1)), 0);
  const double per_ns = 1'000'000.0 / to_microseconds(done.result.time) / 1000;
  const double length = to_microseconds(amounts.length()) * 1000;
  EXPECT_NEAR(static_cast<double>(amounts.amount(amounts.size() / 2, Tracks::hbm_bytes())),
              per_ns * length, 2);
}

TEST(Recorder, changes_nothing) {
  const Scenario scenario = scenario_of_file("scenarios/embedding_a2a_4_gpus.yaml",
                                             {"workload.batch=256", "workload.tables_per_gpu=4"});
  const Cluster cluster = build_cluster(scenario.cluster);
  for (const Mode mode : {Mode::bulk, Mode::fused}) {
    const TaskGraph graph = lower(scenario, cluster, mode);
    const RunResult result = simulate(cluster, graph, scenario.run);
    const Recorded done = recorded(scenario, graph, Detail::all, 1'000'000);
    EXPECT_EQ(done.result.fingerprint, result.fingerprint);
    EXPECT_EQ(done.result.events, result.events);
    std::int64_t hbm = 0;
    for (const GpuUse& gpu : result.gpus) hbm += gpu.hbm.count();
    EXPECT_EQ(sum_of(done.recording.amounts, Tracks::hbm_bytes()), hbm);
    std::int64_t busy = 0;
    for (const LinkRow& link : result.links) busy += link.use.busy.count();
    EXPECT_EQ(sum_of(done.recording.amounts, Tracks::of_class(0)), busy);
  }
}

TEST(Recorder, says_from_when_on_it_is_full) {
  HandMade made;
  const std::uint32_t one = made.takes(microseconds(1));
  made.kernel(persistent(0, 1), std::vector<Item>(10, HandMade::item(one)));
  const Recorded done = recorded(one_node(), made.graph, Detail::all, 3);
  EXPECT_EQ(done.recording.wgs.size(), 3U);
  EXPECT_TRUE(done.recording.full);
  EXPECT_EQ(done.recording.full_at, SimTime{} + microseconds(4));
}

}  // namespace
}  // namespace weft::recorder_test
