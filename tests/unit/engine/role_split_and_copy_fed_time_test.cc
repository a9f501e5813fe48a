// What modes role_split and copy_fed take, where it can be counted by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/toy_gemm.h"

namespace weft::role_split_and_copy_fed_time_test {
namespace {

// 32 tiles of 100 us a GPU, half of them of its own rows (toy_gemm.h); a launch takes 1 us.
TEST(RoleSplitTime, is_that_of_the_tiles_on_the_cus_that_compute) {
  // 4 of 8 CUs compute: 8 rounds. The peer's rows, 4 MB at 50 GB/s, are there after 80 us.
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", {"fused.sending_cus=4"}), Mode::role_split),
              1 + 800, 0.01);
  // 7 compute: 32 tiles are 4 rounds and 4 tiles more.
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", {"fused.sending_cus=1"}), Mode::role_split),
              1 + 500, 0.01);
  // One fills the link, where nobody says.
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", {}), Mode::role_split), 1 + 500, 0.01);
}

TEST(RoleSplitTime, waits_for_the_last_rows_of_a_slow_link) {
  // 4 MB in 64 pieces with flags of 8 B at 1 GB/s; then the last of four rows of tiles, 4 tiles.
  const std::vector<std::string> slow = {"fused.sending_cus=4",
                                         "cluster.scale_up.link.bandwidth=1 GB/s"};
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", slow), Mode::role_split),
              1 + 4000 + 64 * 0.008 + 100, 0.01);
}

TEST(RoleSplitTime, ends_when_the_last_tiles_results_have_been_sent) {
  // The own rows' tiles come last, so the peer's have long been sent and added up.
  EXPECT_NEAR(time_us(toy_gemm("gemm_reduce_scatter", {"fused.sending_cus=4"}), Mode::role_split),
              1 + 800, 0.01);
  // Own rows first: the last four tiles, 20 kB each, travel for 1.6 us behind them.
  EXPECT_NEAR(
      time_us(toy_gemm("gemm_all_to_all", {"fused.sending_cus=4", "fused.order=local_first"}),
              Mode::role_split),
      1 + 800 + 1.6, 0.01);
}

TEST(RoleSplitTime, operators_say_on_how_many_cus_they_may_be) {
  const RunResult split =
      run(toy_gemm("gemm_all_to_all", {"fused.sending_cus=3"}), Mode::role_split);
  ASSERT_EQ(split.operators.size(), 2U);
  EXPECT_EQ(split.operators[0].cus, 8 - 3);
  EXPECT_EQ(split.operators[1].cus, 3);
  // Copy engines carry the collective.
  const RunResult copied =
      run(toy_gemm("all_gather_gemm", {"collective.executor=dma"}), Mode::bulk);
  ASSERT_EQ(copied.operators.size(), 2U);
  EXPECT_EQ(copied.operators[0].cus, 0) << copied.operators[0].name;
  EXPECT_EQ(copied.operators[1].cus, 8) << copied.operators[1].name;
}

// 4 MB at 50 GB/s leave 4 of 8 CUs after 80 us; these do the last of four rounds of tiles as much
// later. So they do if all CUs' WGs send, or one, which the link holds up as much.
TEST(SentFirst, the_wgs_that_send_compute_when_they_have) {
  for (const char* wgs : {"1", "4", "8"}) {
    const Scenario scenario =
        toy_gemm("all_gather_gemm", {"fused.sending_wgs=" + std::string(wgs)});
    EXPECT_NEAR(time_us(scenario, Mode::fused), 1 + 80 + 400, 0.05) << wgs;
  }
}

// One WG stores 4 MB at 5 GB/s: 800 us, when all tiles but those of its last row have long been
// made. The peer's rows are computed as they come, the last four tiles after the last of them. Four
// WGs take 200 us, when the other four CUs have made 8 of the 32 tiles; the rest are three rounds.
// The link is so fast that it holds nothing up.
TEST(SentFirst, by_few_wgs_is_as_slow_as_their_stores) {
  const auto by = [](const std::string& wgs, std::vector<std::string> sets) {
    sets.push_back("fused.sending_wgs=" + wgs);
    return run(toy_gemm("all_gather_gemm", sets), Mode::fused);
  };
  const auto us = [&](const std::string& wgs, const std::string& rate) {
    return to_microseconds(
        by(wgs, {"cluster.gpu.peer_store." + rate, "cluster.scale_up.link.bandwidth=5 TB/s"}).time);
  };
  EXPECT_NEAR(us("1", "wg_rate=5 GB/s"), 1 + 800 + 100, 0.2);
  EXPECT_NEAR(us("4", "wg_rate=5 GB/s"), 1 + 200 + 300, 0.5);
  EXPECT_NEAR(us("4", "register_rate=5 GB/s"), 1 + 200 + 300, 0.5);
  EXPECT_EQ(by("4", {}).operators[1].name, "all_gather (WGs that compute later)");
}

// One WG stores 4 MB at 5 GB/s and fences each piece for 10 us: four slices of 1 MB, in 16 pieces
// each or in one.
TEST(SentFirst, fences_each_piece) {
  const auto us = [](const std::string& piece) {
    return time_us(
        toy_gemm("all_gather_gemm", {"fused={sending_wgs: 1, piece: " + piece + "}",
                                     "cluster.gpu.peer_store={wg_rate: 5 GB/s, fence: 10 us}",
                                     "cluster.scale_up.link.bandwidth=5 TB/s"}),
        Mode::fused);
  };
  EXPECT_NEAR(us("64 KiB"), 1 + 800 + 4 * 16 * 10 + 100, 0.3);
  EXPECT_NEAR(us("1 MiB"), 1 + 800 + 4 * 10 + 100, 0.3);
}

// Results of the second round leave behind it: 8 of 20 kB at 50 GB/s. Sent by the WGs themselves,
// those of the first one held up the second (below).
TEST(SentByWaves, results_leave_while_the_next_tiles_are_made) {
  const std::vector<std::string> last = {"fused.sent_by=wave", "fused.order=local_first"};
  EXPECT_NEAR(time_us(toy_gemm("gemm_all_to_all", last), Mode::fused), 1 + 400 + 3.2, 0.01);
  const std::vector<std::string> first = {"fused.sent_by=wave"};
  EXPECT_NEAR(time_us(toy_gemm("gemm_all_to_all", first), Mode::fused), 1 + 400, 0.01);
}

TEST(SentByWaves, input_is_sent_while_the_own_tiles_are_made) {
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", {"fused.sent_by=wave"}), Mode::fused), 1 + 400,
              0.01);
  const std::vector<std::string> slow = {"fused.sent_by=wave",
                                         "cluster.scale_up.link.bandwidth=1 GB/s"};
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", slow), Mode::fused), 1 + 4000 + 64 * 0.008 + 100,
              0.01);
}

// Of four rounds of 8 tiles, the first two are sent: 20 kB each, 25 us on a link of 0.8 GB/s, from
// 101 us on, so the last one leaves at 501. A WG has one buffer: the third round's WG i begins when
// tile i has left (126 to 301 us, or after its second tile at 201), the fourth's when tile 8 + i
// has (326 to 501). With two buffers nobody waits, but for the last tile on the link. A flag of 8 B
// takes 10 ns.
TEST(SentByWaves, wait_for_a_buffer) {
  std::vector<std::string> slow = {"fused.sent_by=wave",
                                   "cluster.scale_up.link.bandwidth=800 MB/s"};
  EXPECT_NEAR(time_us(toy_gemm("gemm_all_to_all", slow), Mode::fused), 501 + 100, 0.2);
  slow.emplace_back("fused.unsent=2");
  EXPECT_NEAR(time_us(toy_gemm("gemm_all_to_all", slow), Mode::fused), 501, 0.2);
}

// The two rounds that are sent: all 8 waves of a GPU send at once, 160 kB at 50 GB/s, 3.2 us each
// time. At a quarter of the rate the second and the third round take 0.75 of that longer, at none
// all of it. Where two waves at a time may send, a CU loses the time of their two results: 0.8 us.
TEST(SentByWaves, slow_down_their_cus) {
  const auto time_at = [](const std::string& rate, const std::string& more = "fused.unsent=1") {
    return time_us(toy_gemm("gemm_all_to_all",
                            {"fused.sent_by=wave", more, "fused.rate_while_sending=" + rate}),
                   Mode::fused);
  };
  EXPECT_NEAR(time_at("1"), 1 + 400, 0.01);
  EXPECT_NEAR(time_at("0.25"), 1 + 400 + 2 * 0.75 * 3.2, 0.01);
  EXPECT_NEAR(time_at("0"), 1 + 400 + 2 * 3.2, 0.01);
  EXPECT_NEAR(time_at("0", "fused.sending_waves=2"), 1 + 400 + 2 * 0.8, 0.01);
  // Two WGs of a CU: its wave sends the results of both, one after the other.
  EXPECT_NEAR(time_at("0", "workload.gemm.wg={lds: 16 KiB}"),
              time_at("1", "workload.gemm.wg={lds: 16 KiB}") + 2 * 3.2, 0.01);
  // In turn, each second WG makes one for the peer in every round, and waits for four: three times,
  // and the last four leave at the end.
  EXPECT_NEAR(
      time_us(toy_gemm("gemm_all_to_all", {"fused.sent_by=wave", "fused.rate_while_sending=0",
                                           "fused.order=in_turn", "fused.work_list=static"}),
              Mode::fused),
      1 + 400 + 4 * 1.6, 0.01);
}

// Each of 8 WGs adds up two of the own 16 tiles, of 20 kB. 256 threads that load 16 B of each part
// at a time do so five times: words of two parts come after 2 us, of the peer's alone after 1 us.
// No tile is made meanwhile.
TEST(SentByWaves, leave_sums_to_the_wgs) {
  const auto added = [](const std::string& when) {
    return time_us(
        toy_gemm(
            "gemm_reduce_scatter",
            {"fused={sent_by: wave, add_load: 16 B, add: " + when + "}",
             "cluster.gpu.gather={latency: 1 us, doubling: 1 us, cached: 1 us, unfairness: 0}"}),
        Mode::fused);
  };
  EXPECT_NEAR(added("at_end"), 1 + 400 + 2 * 5 * 2, 0.01);
  EXPECT_NEAR(added("with_own"), 1 + 400 + 2 * 5 * 1, 0.01);
}

// The last round's eight results, 2 us each at a wave's 10 GB/s and 0.4 on the link: all at once
// they come to the link together and follow one another there, by one wave they take 2 us each.
TEST(SentByWaves, send_in_turns) {
  const auto sent_at = [](const std::string& waves) {
    return time_us(toy_gemm("gemm_all_to_all", {"fused.sent_by=wave", "fused.order=local_first",
                                                "cluster.gpu.peer_store.bulk_rate=10 GB/s",
                                                "fused.sending_waves=" + waves}),
                   Mode::fused);
  };
  EXPECT_NEAR(sent_at("8"), 1 + 400 + 2 + 7 * 0.4, 0.01);
  EXPECT_NEAR(sent_at("1"), 1 + 400 + 8 * 2, 0.05);
}

// A wave of a WG that is there takes no slot, no wave and no register.
TEST(SentByWaves, need_no_room) {
  const std::vector<std::string> full = {"fused.sent_by=wave", "cluster.gpu.cu.wgs=1"};
  EXPECT_NEAR(time_us(toy_gemm("gemm_all_to_all", full), Mode::fused), 1 + 400, 0.01);
}

TEST(CopyFedTime, is_that_of_all_tiles_behind_a_copy_and_a_barrier) {
  // Launches of the copy of the own rows, of the barrier, of the kernel; then four rounds. Copies
  // of 1 MB take 1 us and 25.
  EXPECT_NEAR(
      time_us(toy_gemm("all_gather_gemm", {"cluster.gpu.dma.rate=40 GB/s"}), Mode::copy_fed),
      3 + 400, 0.01);
}

TEST(CopyFedTime, waits_for_the_last_copy) {
  // Four copies of 100 us behind three launches; then a row of tiles.
  std::vector<std::string> slow = {"cluster.gpu.dma.rate=10 GB/s"};
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", slow), Mode::copy_fed), 3 + 4 * 100 + 100,
              1.4);  // the last 64 KiB, on the link
  // The engine begins each further one 10 us after the last byte of the one before it, the flag
  // behind the last one is written 4 us after its last byte.
  slow.insert(slow.end(), {"cluster.gpu.dma.next=10 us", "cluster.gpu.dma.signal=4 us"});
  EXPECT_NEAR(time_us(toy_gemm("all_gather_gemm", slow), Mode::copy_fed),
              3 + 4 * 100 + 3 * 10 + 4 + 100, 1.4);
}

TEST(CopyFedTime, of_sums_ends_with_a_kernel_that_adds) {
  // A launch and four rounds. Of the first two, results of 8 WGs, 20 kB each, share a link of 50
  // GB/s: the last one waits for 3.2 us, and since WGs end 0.4 us apart then, for 0.4 in the second
  // round. Then the launch of the kernel that adds.
  EXPECT_NEAR(time_us(toy_gemm("gemm_reduce_scatter", {}), Mode::copy_fed), 1 + 400 + 3.6 + 1,
              0.01);
}

}  // namespace
}  // namespace weft::role_split_and_copy_fed_time_test
