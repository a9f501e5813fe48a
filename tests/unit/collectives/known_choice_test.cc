// What trials of a collective have found is known to other clusters of the same machine.
#include <gtest/gtest.h>

#include <string>

#include "sim/engine/known_runs.h"
#include "tests/unit/engine/simulated.h"

namespace weft::known_choice_test {
namespace {

// The operator's name says which way was chosen.
std::string way(KnownRuns* known, const std::string& bytes, const std::string& more = "") {
  const Scenario scenario =
      scenario_of("name: known\ncluster: {base: clusters/node_8x_h100" + more +
                  "}\nworkload: {kind: collective, op: all_reduce, bytes: " + bytes +
                  "}\ncollective: {algorithm: auto}\n");
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

}  // namespace
}  // namespace weft::known_choice_test
