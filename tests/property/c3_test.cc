// Laws of a GEMM concurrent with a collective, whatever the strategy.
#include "sim/workloads/c3.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/engine/partition.h"
#include "sim/scenario/modes.h"
#include "tests/property/cases.h"
#include "tests/property/random_scenario.h"

namespace weft::c3_test {
namespace {

std::string c3(std::uint64_t seed) { return RandomScenario(seed).c3(); }

// Calls law(scenario with its partition, cluster, mode) for each mode.
template <class Law>
void for_each_mode(const std::string& text, Law law) {
  const Scenario scenario = scenario_of(text);
  const Cluster cluster = build_cluster(scenario.cluster);
  for (const Mode mode : scenario.modes) {
    Scenario parted = scenario;
    const int cus = choose_partition(scenario, cluster, mode).cus;
    if (cus > 0) parted.c3.partition_cus = cus;
    law(parted, cluster, mode);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(C3, every_strategy_finishes_and_its_ledger_balances) {
  for_each_seed(200, c3, [](std::uint64_t, const std::string& text) {
    for_each_mode(text, [](const Scenario& scenario, const Cluster& cluster, Mode mode) {
      const TaskGraph graph = lower(scenario, cluster, mode);
      const RunResult result = simulate(cluster, graph, scenario.run);
      EXPECT_EQ(result.ending, Ending::finished) << name_of(mode) << result.stopped_because;
      EXPECT_TRUE(result.ledger.balanced()) << name_of(mode);
      std::uint64_t wgs = 0;
      for (const OperatorUse& use : result.operators) wgs += use.wgs;
      EXPECT_EQ(wgs, graph.items.size());
    });
  });
}

// Side by side on the same CUs neither is faster than by itself. (Against all CUs it may be: the
// collective is faster on fewer channels where its pieces then come out even.) But for what order
// brings: WGs that are placed after others may share CUs better, and messages that come later may
// meet fewer on the links. (Seed 105: two channels that start together send at the same moments and
// queue behind one another at every step; one that starts 2.9 us late sends in between: 4 %.)
constexpr double kOrder = 0.05;

TEST(C3, neither_is_faster_beside_the_other_than_by_itself) {
  for_each_seed(200, c3, [](std::uint64_t, const std::string& text) {
    for_each_mode(text, [](const Scenario& scenario, const Cluster& cluster, Mode mode) {
      if (is_isolated(mode)) return;
      const C3Pair pair = c3_pair(scenario);
      const C3Strategy both = strategy_of(pair, cluster.spec.gpu, mode, pair.options.partition_cus);
      const auto time = [&](const C3Strategy& strategy) {
        return to_seconds(simulate(cluster, lower_c3(pair, cluster, strategy), scenario.run).time);
      };
      C3Strategy gemm = both;
      gemm.communicate = false;
      C3Strategy collective = both;
      collective.compute = false;
      const double together = time(both);
      EXPECT_GE(together * (1 + kOrder), time(gemm)) << name_of(mode);
      EXPECT_GE(together * (1 + kOrder), time(collective)) << name_of(mode);
    });
  });
}

}  // namespace
}  // namespace weft::c3_test
