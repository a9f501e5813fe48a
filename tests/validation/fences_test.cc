// Release fences on an H200, measured with a kernel of ours (docs/model.md, "Fences"): WGs of 256
// threads; 20 times the first lane of each of 8 waves stores 4 B into a peer, then behind a barrier
// one thread does __threadfence_system() and sets a flag at the peer. Microseconds a turn.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::fences_test {
namespace {

struct Measured {
  std::uint32_t wgs_an_sm;
  double us;
};
constexpr std::array kMeasured{Measured{1, 1.29}, Measured{2, 2.92}, Measured{3, 3.05},
                               Measured{4, 3.14}, Measured{5, 3.26}};

double simulated_us(std::uint32_t wgs_an_sm) {
  constexpr std::uint32_t kTurns = 20;
  const Scenario scenario = scenario_of_file("scenarios/gemv_ar_4x_h200.yaml");
  const std::uint32_t wgs = wgs_an_sm * 132;
  HandMade made;
  const std::uint32_t nothing = made.takes({});
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < wgs * kTurns; ++i) {
    items.push_back(HandMade::item(nothing, made.sends({.to = 1, .size = 32})));
  }
  Kernel kernel = persistent(0, wgs, WorkList::static_list);
  kernel.fenced = true;
  made.kernel(kernel, items);
  return to_microseconds(run(scenario, made.graph).time) / kTurns;
}

TEST(H200Fences, of_wgs_on_one_sm_wait_for_each_other) {
  for (const Measured& one : kMeasured) {
    EXPECT_NEAR(simulated_us(one.wgs_an_sm), one.us, 0.25 * one.us) << one.wgs_an_sm;
  }
}

TEST(H200Fences, of_two_wgs_take_twice_as_long_as_of_one_and_of_six_no_longer) {
  // What tells shared fences from ones in a row: these would take 6 times as long.
  // Measured: 2.92 / 1.29 = 2.26, and 3.44 / 2.92 = 1.18.
  EXPECT_NEAR(simulated_us(2) / simulated_us(1), 2.26, 0.3);
  EXPECT_NEAR(simulated_us(6) / simulated_us(2), 1.18, 0.2);
}

}  // namespace
}  // namespace weft::fences_test
