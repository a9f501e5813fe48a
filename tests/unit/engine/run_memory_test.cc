// The memory that a run is estimated to take, worked from the sizes of what it stores.
#include "sim/engine/run_memory.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::run_memory_test {
namespace {

constexpr double kSends = 1'000'000;

double bytes_of(const Cluster& cluster, const CollectiveCounts& counts) {
  return static_cast<double>(
      (memory_of_run(cluster, counts) - memory_of_run(cluster, CollectiveCounts{})).count());
}

// Per send 20 B, a latch of 8 B in the graph and 8 in the engine, an event of 16 B, and a ring's
// place of 32 B that may be half empty.
TEST(RunMemory, has_room_for_all_messages_at_a_time) {
  const Cluster cluster = build_cluster(scenario_of_file("scenarios/peers_ring_128.yaml").cluster);
  EXPECT_EQ(bytes_of(cluster, {.sends = kSends, .bytes = kSends}),
            kSends * (20 + 8 + 8 + 16 + 2 * 32));
}

// What is not on its way has a latch of its arrival instead; what is, a place on each of 8 links.
TEST(RunMemory, has_no_room_for_messages_that_follow_from_others) {
  const Cluster cluster = build_cluster(scenario_of_file("scenarios/peers_ring_128.yaml").cluster);
  constexpr double kAtATime = 1'000;
  EXPECT_EQ(bytes_of(cluster, {.sends = kSends, .bytes = kSends, .at_rest = kSends - kAtATime}),
            kSends * (20 + 8 + 8) + (kSends - kAtATime) * (8 + 8) + kAtATime * 8 * (16 + 2 * 32));
}

}  // namespace
}  // namespace weft::run_memory_test
