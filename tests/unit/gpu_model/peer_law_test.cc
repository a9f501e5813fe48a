// Stores into a peer, fences and flags, copies by engines. A WG stores 10 GB/s; the way is 1 us.
#include "sim/gpu_model/peer_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weft::peer_law_test {
namespace {

PeerStoreSpec peer() {
  PeerStoreSpec spec;
  spec.wg_rate = gigabytes_per_second(10);
  spec.fence = nanoseconds(400);
  spec.flag = nanoseconds(300);
  spec.fence_gap = nanoseconds(20);
  return spec;
}

TEST(PeerLaw, single_threads_fill_a_quarter_of_their_lines) {
  EXPECT_EQ(store_rate_of_threads(peer()), bytes_per_second(2'500'000'000));
}

TEST(PeerLaw, a_fence_and_a_flag_take_the_way_and_their_own) {
  EXPECT_EQ(fence_time(peer(), microseconds(1)), nanoseconds(1400));
  EXPECT_EQ(flag_time(peer(), microseconds(1)), nanoseconds(1300));
}

TEST(PeerLaw, fences_of_a_gpu_end_a_gap_apart) {
  const SimTime last = SimTime{} + nanoseconds(100);
  EXPECT_EQ(fence_ends(peer(), last, SimTime{} + nanoseconds(90)), SimTime{} + nanoseconds(120));
  EXPECT_EQ(fence_ends(peer(), last, SimTime{} + nanoseconds(130)), SimTime{} + nanoseconds(130));
  PeerStoreSpec free = peer();
  free.fence_gap = {};
  EXPECT_EQ(fence_ends(free, last, SimTime{} + nanoseconds(90)), SimTime{} + nanoseconds(90));
}

TEST(PeerLaw, a_wg_stores_at_its_rate) {
  // 40 KB of 4 WGs, 10 KB each at 10 GB/s.
  EXPECT_NEAR(store_seconds(peer(), 40'000, 4), 1e-6, 1e-15);
  // 1 KB stored, there and back.
  EXPECT_NEAR(turn_seconds(peer(), 1'000, microseconds(1)), 1.5e-6, 1e-15);
}

// Step by step: a turn ends no sooner than its WG's turn after the one before, nor than a gap after
// the last one of all.
double step_by_step(const Turns& turns, double apart) {
  std::vector<double> ends(static_cast<std::size_t>(turns.wgs), 0.0);
  double last = -apart;
  for (std::int64_t turn = 0; turn < turns.turns; ++turn) {
    for (double& end : ends) last = end = std::max(end + turns.turn, last + apart);
  }
  return last;
}

TEST(PeerLaw, turns_wait_for_one_another_where_there_are_many) {
  // Fences 20 ns apart: of 1.5 us a turn, 75 WGs fill the place.
  for (const std::int64_t wgs : {1, 2, 74, 75, 76, 200}) {
    const Turns turns{.turn = 1.5e-6, .on_link = 5e-9, .wgs = wgs, .turns = 32};
    EXPECT_NEAR(turns_seconds(peer(), turns), step_by_step(turns, 20e-9), 1e-13) << wgs;
  }
}

TEST(PeerLaw, turns_wait_for_a_link_that_takes_longer_than_the_gap) {
  const Turns turns{.turn = 1.5e-6, .on_link = 50e-9, .wgs = 100, .turns = 32};
  EXPECT_NEAR(turns_seconds(peer(), turns), step_by_step(turns, 50e-9), 1e-13);
}

TEST(PeerLaw, copies_of_an_engine_follow_one_another) {
  DmaSpec dma;
  dma.schedule = microseconds(6);
  dma.signal = microseconds(3);
  dma.next = microseconds(4);
  dma.rate = gigabytes_per_second(200);
  EXPECT_NEAR(copies_seconds(dma, 1'000'000, 1), 14e-6, 1e-15);    // 6 + 5 + 3
  EXPECT_NEAR(copies_seconds(dma, 1'000'000, 16), 149e-6, 1e-15);  // 9 + 16 x 5 + 15 x 4
}

}  // namespace
}  // namespace weft::peer_law_test
