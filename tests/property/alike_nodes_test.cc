// A ring collective alone of which a few nodes stand for all writes what all nodes would, byte for
// byte: times, links, operators, what is over time.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <regex>
#include <string>
#include <variant>

#include "sim/core/rng.h"
#include "sim/report/csv.h"
#include "sim/report/over_time.h"
#include "sim/report/summary.h"
#include "sim/run/scenario_run.h"
#include "tests/property/cases.h"

namespace weft::alike_nodes_property_test {
namespace {

// Nodes of one, two or four GPUs with a NIC each or one together, on a ring, a switch or one to
// three a leaf; GPUs that are ideal, or H100 with their own launches, protocols and channels.
std::string random_ring(std::uint64_t seed) {
  Rng rng(seed, "property/alike_nodes");
  const auto one_of = [&rng](auto values) { return values.begin()[rng() % values.size()]; };
  using Numbers = std::initializer_list<int>;
  using Words = std::initializer_list<const char*>;
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  const bool ideal = one_of(Numbers{0, 1}) == 1;
  const int per_node = one_of(Numbers{1, 1, 2, 4});
  const int nodes = one_of(Numbers{6, 8, 9, 12, 15, 16});
  const int nics = one_of(Numbers{1, per_node});
  const std::string shape = one_of(Words{"ring", "ring", "switch", "fat_tree"});
  const int of_leaf = one_of(Numbers{1, 2, 3});  // nodes
  const bool leaves = shape == "fat_tree" && nodes % of_leaf == 0;
  const int oversubscription = of_leaf * nics % 2 == 0 ? one_of(Numbers{1, 2}) : 1;
  std::string cluster = "clusters/nodes_16x_8x_h100";
  if (ideal) {
    cluster = shape == "ring" ? "clusters/peers_ring_128" : "clusters/peers_switch_128";
    cluster += ", scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}";
  }
  cluster += ", nodes: " + text(nodes) + ", gpus_per_node: " + text(per_node) +
             ", nic: {per_node: " + text(nics) + "}, scale_out: {shape: " +
             (leaves            ? "fat_tree"
              : shape == "ring" ? "ring"
                                : "switch") +
             (leaves ? ", endpoints_per_leaf: " + text(of_leaf * nics) +
                           ", oversubscription: " + text(oversubscription)
              : ideal ? ""
                      : ", endpoints_per_leaf: ~, oversubscription: ~") +
             ", link: {latency: " + text(one_of(Numbers{0, 300, 2000})) + " ns}}";
  const int channels = one_of(Numbers{1, 2, 4, 8});
  const std::int64_t of_block = std::int64_t{1} << one_of(Numbers{4, 8, 12, 15, 18});
  return "{name: random, cluster: {base: " + cluster + "}, workload: {kind: collective, op: " +
         one_of(Words{"all_reduce", "all_gather", "reduce_scatter"}) +
         ", bytes: " + text(of_block * nodes * per_node * channels) +
         " B}, collective: {algorithm: ring, channels: " + text(channels) +
         ", protocol: " + one_of(Words{"simple", "ll", "ll128"}) + "}, modes: [bulk]}";
}

// Its results, but for how much was simulated.
struct Written {
  std::uint32_t simulated_gpus = 0;
  std::string text;
};

Written written(const Scenario& scenario, Repeats repeats) {
  static const std::regex kSimulated(
      R"re("engine": \{[^}]*\}|"(fingerprint|events|scenario_hash)": [^,\n]*)re");
  Loaded loaded;
  loaded.scenario = scenario;
  loaded.scenario->run.repeats = repeats;
  ScenarioRun run(loaded);
  run.record({});
  const auto done = run.run("", {});
  if (!std::holds_alternative<RunReport>(done)) return {.simulated_gpus = 0, .text = "failed"};
  const auto& report = std::get<RunReport>(done);
  return {.simulated_gpus = report.simulated_gpus,
          .text = std::regex_replace(summary_json(report), kSimulated, "") + links_csv(report) +
                  operators_csv(report) + link_classes_csv(report) + over_time_csv(report)};
}

TEST(AlikeNodes, write_what_all_nodes_write) {
  int folded = 0;
  int seeds = 0;
  for_each_seed(60, random_ring, [&](std::uint64_t, const std::string& text) {
    const Scenario scenario = scenario_of(text);
    ++seeds;
    const Written some = written(scenario, Repeats::once);
    const Written all = written(scenario, Repeats::blocks);
    EXPECT_EQ(some.text, all.text) << text;
    EXPECT_EQ(all.simulated_gpus, static_cast<std::uint32_t>(scenario.cluster.gpus()));
    if (some.simulated_gpus < all.simulated_gpus) ++folded;
  });
  if (seeds >= 60) {
    EXPECT_GE(2 * folded, seeds);
  }
}

}  // namespace
}  // namespace weft::alike_nodes_property_test
