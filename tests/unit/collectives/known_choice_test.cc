// What trials of a collective have found is known to other clusters of the same machine.
#include <gtest/gtest.h>

#include <string>

#include "sim/collectives/collective_trial.h"
#include "sim/engine/known_runs.h"
#include "tests/unit/engine/simulated.h"

namespace weft::known_choice_test {
namespace {

// The operator's name says which way was chosen.
std::string way(KnownRuns* known, const std::string& bytes, const std::string& more = "",
                const std::string& algorithm = "auto") {
  const Scenario scenario =
      scenario_of("name: known\ncluster: {base: clusters/node_8x_h100" + more +
                  "}\nworkload: {kind: collective, op: all_reduce, bytes: " + bytes +
                  "}\ncollective: {algorithm: " + algorithm + "}\n");
  Cluster cluster = build_cluster(scenario.cluster);
  cluster.own_choices.known_runs = known;
  const std::string name = lower(scenario, cluster, Mode::bulk).operators[OperatorId(0)].name;
  return name.substr(name.find('('));
}

TEST(KnownChoice, is_asked_for_by_clusters_of_the_same_machine) {
  KnownRuns known;
  const std::string small = way(&known, "16 KiB");
  EXPECT_EQ(known.size(), 1U);
  EXPECT_EQ(way(&known, "16 KiB"), small);
  EXPECT_EQ(known.size(), 1U) << "nothing new was tried";
  EXPECT_EQ(small, way(nullptr, "16 KiB"));
  const std::string large = way(&known, "64 MiB");
  EXPECT_EQ(known.size(), 2U);
  EXPECT_EQ(large, way(nullptr, "64 MiB"));
  way(&known, "16 KiB", ", scale_up: {link: {latency: 900 ns}}");
  EXPECT_EQ(known.size(), 3U) << "another machine";
}

// As of a file that another program has written: no way has such a number.
TEST(KnownChoice, that_is_none_of_the_ways_is_found_again) {
  KnownRuns known;
  const Scenario scenario = scenario_of(
      "name: known\ncluster: {base: clusters/node_8x_h100}\nworkload: {kind: collective, op: "
      "all_reduce, bytes: 16 KiB}\n");
  constexpr auto ring = static_cast<int>(Algorithm::ring);
  const auto number = [](Protocol protocol) {
    return ring * static_cast<int>(kProtocols) + static_cast<int>(protocol);
  };
  // By the ring, each protocol tried: what collective_trials.cc asks by.
  const Memo::Key key{static_cast<int>(CollectiveOp::all_reduce),
                      16384,
                      ring,
                      0,
                      -1,
                      scenario.collective.channels,
                      0,
                      CuRange{}.count,
                      0,
                      1,
                      8,
                      0,
                      1,
                      2,
                      3,
                      4,
                      5,
                      6,
                      7,
                      number(Protocol::ll),
                      number(Protocol::ll128),
                      number(Protocol::simple)};
  keep_choice(known, build_cluster(scenario.cluster), key, 999);
  EXPECT_EQ(way(&known, "16 KiB", "", "ring"), way(nullptr, "16 KiB", "", "ring"));
  EXPECT_EQ(known.size(), 1U) << "the key of this test is another one's";
}

}  // namespace
}  // namespace weft::known_choice_test
