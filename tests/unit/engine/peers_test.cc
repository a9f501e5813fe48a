// The same all-to-all in other simulators: 128 GPUs, one message of 8 KiB a pair (1 MiB a GPU),
// links of 25 GB/s and 700 ns. Sources: runs of SimGrid 3.32 (fluid) and of ASTRA-sim 2
// (congestion-aware) of the same system; docs/validation.md. Accepted: 3 %.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/simulated.h"

namespace weft::peers_test {
namespace {

// The others have no NICs: here they are so wide that they are none.
// `size`: of each GPU, for 128 pairs.
double us(const std::string& network, const std::string& size) {
  return to_microseconds(
      run(scenario_of_file("scenarios/peers_" + network + "_128.yaml",
                           {"workload.bytes=" + size, "cluster.nic.bandwidth=100 TB/s"}))
          .time);
}

TEST(Peers, a_16x8_torus_takes_as_long_as_in_astra_sim_and_simgrid) {
  // ASTRA-sim 95.3 us, SimGrid 95.4 us. Ties all go one way: x+ carries 8 x (28 + 8) = 288
  // messages of 327.68 ns = 94.4 us. With 128 KiB: 1510.4 and 1510.6 us.
  EXPECT_NEAR(us("torus", "1 MiB"), 95.3, 0.03 * 95.3);
  EXPECT_NEAR(us("torus", "16 MiB"), 1510.4, 0.03 * 1510.4);
}

TEST(Peers, a_ring_takes_as_long_as_in_astra_sim_and_simgrid) {
  // ASTRA-sim 682.0 us, SimGrid 682.7 us. x+ carries 63 x 64 / 2 + 64 = 2080 messages = 681.6 us.
  // With 128 KiB: 10,905 and 10,906 us.
  EXPECT_NEAR(us("ring", "1 MiB"), 682.0, 0.03 * 682.0);
  EXPECT_NEAR(us("ring", "16 MiB"), 10'905, 0.03 * 10'905);
}

TEST(Peers, a_switch_takes_as_long_as_in_simgrid) {
  // SimGrid 43.0 us, ASTRA-sim 43.3 us. 127 x 327.68 ns + 1.4 us = 43.02 us. With 128 KiB: SimGrid
  // 667.2 us.
  EXPECT_NEAR(us("switch", "1 MiB"), 43.0, 0.03 * 43.0);
  EXPECT_NEAR(us("switch", "16 MiB"), 667.2, 0.03 * 667.2);
}

}  // namespace
}  // namespace weft::peers_test
