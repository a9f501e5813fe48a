// A large all-to-all on every shipped cluster takes about what its links say by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"

namespace weft::clusters_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";

// So much a pair that start-up and the last round of the channels matter little: 16 MiB to each of
// three peers still take a third longer than the links, measured and simulated (docs/hardware.md).
Scenario all_to_all_on(const fs::path& cluster) {
  const std::string text = "{name: a, cluster: {base: clusters/" + cluster.stem().string() +
                           "}, workload: {kind: collective, op: all_to_all, bytes: 1 GiB}}";
  const Loaded loaded = load_scenario_text(text, "a.yaml", {.sets = {}, .config_dirs = {kConfigs}});
  EXPECT_EQ(loaded.problems.to_text(), "") << cluster;
  Scenario scenario = loaded.scenario.value_or(Scenario{});
  const int mebi_of_pair = scenario.cluster.nodes > 2 ? 4 : 64;  // many pairs: less of each
  scenario.workload.collective.bytes = mebibytes(mebi_of_pair) * scenario.cluster.gpus();
  return scenario;
}

double seconds(double bytes, const LinkSpec& link) {
  return bytes / static_cast<double>(link.bandwidth.count());
}

// What the links take that carry most, each message once: the links of the node, or the NICs'.
double least_seconds(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const double pair =
      static_cast<double>(scenario.workload.collective.bytes.count()) / cluster.gpus();
  const int gpus = cluster.gpus_per_node;
  double least = 0;
  if (cluster.scale_up) {
    const bool direct = cluster.scale_up->topology->has_link_of_each_pair();
    least = seconds(pair * (direct ? 1 : gpus - 1), cluster.scale_up->link);
  }
  if (!cluster.scale_out) return least;
  const double remote = static_cast<double>(cluster.nodes - 1) * gpus;
  const double gpus_a_nic = static_cast<double>(gpus) / cluster.nic->per_node;
  return std::max(least, seconds(pair * remote * gpus_a_nic, cluster.scale_out->link));
}

TEST(Clusters, a_large_all_to_all_takes_little_longer_than_its_links) {
  constexpr int kMostGpus = 200;
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(kConfigs / "clusters")) {
    const Scenario scenario = all_to_all_on(entry.path());
    const ClusterSpec& spec = scenario.cluster;
    // On a torus messages share links; its closed forms have tests of their own.
    const bool torus = spec.scale_out && !spec.scale_out->topology->grid().empty();
    if (spec.gpu.name == "ideal" || torus || spec.gpus() > kMostGpus) continue;
    const Cluster cluster = build_cluster(spec);
    const RunResult result = simulate(cluster, lower(scenario, cluster, Mode::bulk), scenario.run);
    const double over = to_microseconds(result.time) * 1e-6 / least_seconds(scenario);
    EXPECT_GE(over, 1) << entry.path();
    // NCCL's channels fill 531 of 669 GB/s of eight B200's links (measured): 1.26.
    EXPECT_LE(over, spec.gpu.name == "B200" ? 1.26 : 1.2) << entry.path();
    seen += 1;
  }
  EXPECT_GE(seen, 17);
}

}  // namespace
}  // namespace weft::clusters_test
