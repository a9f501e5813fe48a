// What `auto` takes is never slower than another way to run a collective, on every shipped cluster;
// and what a link rests on counts: more bandwidth is never slower, less than is needed never as
// fast.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"
#include "sim/scenario/names.h"
#include "tests/sanitized.h"

namespace weft::collective_choice_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";
using Sets = std::vector<std::string>;

// Groups of so many GPUs, so far apart; of all, without a size.
struct Split {
  int size = 0;
  int stride = 1;
};

std::optional<double> us(const std::string& cluster, const std::string& op, std::int64_t size,
                         const std::string& algorithm, Sets sets = {}, Split split = {}) {
  sets.push_back("collective.algorithm=" + algorithm);
  if (split.size > 0) {
    sets.push_back("workload.groups={size: " + std::to_string(split.size) +
                   ", stride: " + std::to_string(split.stride) + "}");
  }
  const Loaded loaded =
      load_scenario_text("{name: a, cluster: {base: clusters/" + cluster +
                             "}, workload: {kind: collective, op: " + op +
                             ", bytes: " + std::to_string(size) + " B}, modes: [bulk]}",
                         "a.yaml", {.sets = sets, .config_dirs = {kConfigs}});
  if (!loaded.scenario) return std::nullopt;  // there is no such way here
  const Cluster built = build_cluster(loaded.scenario->cluster);
  const RunResult result =
      simulate(built, lower(*loaded.scenario, built, Mode::bulk), loaded.scenario->run);
  return to_microseconds(result.time);
}

const Sets kTwoNodes{"cluster.nodes=2", "cluster.scale_out.shape=switch",
                     "cluster.scale_out.endpoints_per_leaf=~",
                     "cluster.scale_out.oversubscription=~"};

struct Machine {
  std::string cluster;
  Sets sets;
  std::string name;
  std::vector<Split> splits = {};
};
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }

// Of the shipped clusters, groups that a test can try all ways of.
const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> made;
    for (const auto& entry : fs::directory_iterator(kConfigs / "clusters")) {
      const std::string name = entry.path().stem().string();
      if (name.starts_with("peers_") || name.starts_with("torus_") ||
          name.starts_with("fat_tree_") || name == "nodes_128x_8x_h100") {
        continue;  // one GPU a node, many nodes, or as another
      }
      const bool nodes = name.starts_with("nodes_16x");
      made.push_back({name, nodes ? kTwoNodes : Sets{}, name});
      if (name == "gb200_nvl72") {
        made.back().sets = {"cluster.gpus_per_node=32"};
      }
      if (name == "node_8x_b200") made.push_back({name, {"cluster.gpus_per_node=2"}, name + "_2"});
    }
    std::sort(made.begin(), made.end(),
              [](const Machine& a, const Machine& b) { return a.name < b.name; });
    return made;
  }();
  return all;
}

const std::vector<std::string> kOps{"all_reduce", "all_gather", "reduce_scatter", "broadcast"};

void expect_auto_is_best(const Machine& machine, const std::vector<std::int64_t>& sizes,
                         Split split) {
  for (const std::string& op : kOps) {
    for (const std::int64_t size : sizes) {
      const std::optional<double> chosen =
          us(machine.cluster, op, size, "auto", machine.sets, split);
      ASSERT_TRUE(chosen) << op;
      std::vector<std::string> ways{"library"};
      for (const auto& [name, algorithm, meaning] : names::kAlgorithms) ways.emplace_back(name);
      for (const std::string& way : ways) {
        if (way == "one_shot" && size > 262'144) continue;  // long, and long since slower
        for (const char* protocol : {"auto", "simple", "ll128", "ll"}) {
          Sets sets = machine.sets;
          sets.push_back(std::string("collective.protocol=") + protocol);
          const std::optional<double> other = us(machine.cluster, op, size, way, sets, split);
          if (!other) continue;
          EXPECT_LE(*chosen, *other * 1.03)
              << op << " of " << size << " B, groups of " << split.size << ", " << split.stride
              << " apart: " << way << ", " << protocol << " takes " << *other;
          if (kSanitized) break;
        }
      }
    }
  }
}

class CollectiveChoiceOf : public ::testing::TestWithParam<Machine> {};

TEST_P(CollectiveChoiceOf, auto_is_never_slower_than_another_by_3_percent) {
  expect_auto_is_best(GetParam(),
                      kSanitized ? std::vector<std::int64_t>{4'096, 4'194'304}
                                 : std::vector<std::int64_t>{4'096, 262'144, 4'194'304, 67'108'864},
                      {});
}

INSTANTIATE_TEST_SUITE_P(Machines, CollectiveChoiceOf, ::testing::ValuesIn(machines()),
                         [](const auto& made) { return made.param.name; });

// Groups that run at one time: neighbours, those as far apart as they can be, and between.
const std::vector<Machine>& split_machines() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> made{
        {"nodes_16x_8x_h100", {"cluster.nodes=4"}, "rails_4x_8x_h100", {{4, 8}, {2, 8}, {8, 4}}},
        {"nodes_16x_8x_h100", kTwoNodes, "rails_2x_8x_h100", {{2, 8}, {4, 4}, {8, 2}, {4, 1}}},
        // Eight GPUs share a NIC.
        {"nodes_16x_8x_h100", kTwoNodes, "one_nic_2x_8x_h100", {{2, 8}, {4, 4}}},
        // Nodes of a leaf share half of their way up.
        {"nodes_16x_8x_h100",
         {"cluster.nodes=4", "cluster.scale_out.endpoints_per_leaf=8",
          "cluster.scale_out.oversubscription=2"},
         "narrow_leaves_4x_8x_h100",
         {{4, 8}, {2, 16}, {8, 4}}},
        {"nodes_16x_8x_mi355x", kTwoNodes, "rails_2x_8x_mi355x", {{2, 8}, {4, 4}}},
        {"node_8x_h100", {}, "node_8x_h100", {{2, 4}, {4, 1}, {4, 2}}},
        {"node_8x_mi300x", {}, "node_8x_mi300x", {{2, 1}, {4, 2}}},
        {"gb200_nvl72", {"cluster.gpus_per_node=32"}, "gb200_nvl32", {{2, 16}, {8, 4}}}};
    made[2].sets.emplace_back("cluster.nic.per_node=1");
    return made;
  }();
  return all;
}

class SplitChoiceOf : public ::testing::TestWithParam<Machine> {};

TEST_P(SplitChoiceOf, auto_is_never_slower_than_another_by_3_percent_where_groups_run_at_once) {
  for (const Split split : GetParam().splits) {
    expect_auto_is_best(GetParam(),
                        kSanitized ? std::vector<std::int64_t>{4'096}
                                   : std::vector<std::int64_t>{4'096, 65'536, 1'048'576, 4'194'304},
                        split);
  }
}

INSTANTIATE_TEST_SUITE_P(Splits, SplitChoiceOf, ::testing::ValuesIn(split_machines()),
                         [](const auto& made) { return made.param.name; });

// Every bandwidth that a cluster states, raised: nothing takes longer (but for what a message more
// or less in a queue makes).
// Where pieces become so large that they are cut in slices, these overlap: 10 % at most.
TEST(CollectiveChoice, no_ring_is_much_faster_with_more_bytes) {
  for (const char* protocol : {"simple", "ll128"}) {
    double before = 0;
    for (std::int64_t size = 1 << 20; size <= 256 << 20; size *= 2) {
      const std::optional<double> time =
          us("gb200_nvl72", "reduce_scatter", size, "ring",
             {"cluster.gpus_per_node=32", std::string("collective.protocol=") + protocol}, {});
      ASSERT_TRUE(time);
      EXPECT_GE(*time, before * 0.9) << protocol << ", " << size;
      before = *time;
    }
  }
}

TEST(CollectiveChoice, no_collective_is_slower_with_more_bandwidth) {
  struct Raised {
    std::string cluster;
    Sets from;
    std::string raised;
  };
  const std::vector<Raised> cases{
      {"node_8x_h100", {}, "cluster.scale_up.link.bandwidth=700 GB/s"},
      {"node_8x_h100",
       {"cluster.scale_up.link.bandwidth=100 GB/s"},
       "cluster.scale_up.link.bandwidth=150 GB/s"},
      {"gb200_nvl72", {"cluster.gpus_per_node=16"}, "cluster.scale_up.link.bandwidth=1338 GB/s"},
      {"node_8x_mi300x", {}, "cluster.scale_up.link.bandwidth=64 GB/s"},
      {"nodes_16x_8x_h100", kTwoNodes, "cluster.nic.bandwidth=800 Gb/s"},
      {"nodes_16x_8x_h100", kTwoNodes, "cluster.scale_out.link.bandwidth=800 Gb/s"},
      {"node_8x_h100", {}, "cluster.gpu.memory.bandwidth=6 TB/s"},
      {"node_8x_h100", {}, "cluster.gpu.collective.channel_rate=40 GB/s"}};
  for (const Raised& one : cases) {
    Sets more = one.from;
    more.push_back(one.raised);
    for (const std::string& op : kOps) {
      for (const std::int64_t size : {65'536, 4'194'304, 33'554'432}) {
        if (kSanitized && size == 33'554'432) continue;  // takes most of the time
        EXPECT_LE(us(one.cluster, op, size, "auto", more).value(),
                  us(one.cluster, op, size, "auto", one.from).value() * 1.001)
            << one.cluster << ' ' << op << ' ' << size << ' ' << one.raised;
      }
    }
  }
}

// A link of 50 GB/s passes no more than that, whatever uses it: an all-reduce of S on 8 GPUs that
// the switch adds up takes S x (1 + 1/8) / 50 GB/s at least, by all others 2 x 7/8 S / 50 GB/s; an
// all-gather 7/8 S.
TEST(CollectiveChoice, nothing_is_faster_than_a_slow_link) {
  constexpr std::int64_t kSize = 64 * 1024 * 1024;
  constexpr double kLinkUs = static_cast<double>(kSize) / 50e3;
  for (const char* cluster : {"node_8x_h100", "node_8x_b200"}) {
    const Sets slow{"cluster.scale_up.link.bandwidth=50 GB/s"};
    EXPECT_GE(us(cluster, "all_reduce", kSize, "in_switch", slow).value(), 1.125 * kLinkUs);
    EXPECT_GE(us(cluster, "all_gather", kSize, "in_switch", slow).value(), kLinkUs);
    for (const char* way : {"ring", "tree", "direct", "halving_doubling"}) {
      EXPECT_GE(us(cluster, "all_reduce", kSize, way, slow).value(), 1.75 * kLinkUs) << way;
    }
  }
  // Copy engines have 1.0537 times what stores have.
  const Loaded loaded = load_scenario_text(
      "{name: a, cluster: {base: clusters/node_8x_h100, scale_up: {link: {bandwidth: 50 GB/s}}}, "
      "workload: {kind: collective, op: all_gather, bytes: 64 MiB}, modes: [bulk], "
      "collective: {executor: dma}}",
      "a.yaml", {.sets = {}, .config_dirs = {kConfigs}});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  const Cluster built = build_cluster(loaded.scenario->cluster);
  const RunResult engines =
      simulate(built, lower(*loaded.scenario, built, Mode::bulk), loaded.scenario->run);
  EXPECT_GE(to_microseconds(engines.time), 0.875 * kLinkUs / 1.0538);
}

// A link that nothing can fill is said to be so.
TEST(CollectiveChoice, a_link_that_nothing_fills_is_named) {
  const auto said = [](const std::string& cluster, const Sets& sets) {
    return load_scenario_text("{name: a, cluster: {base: clusters/" + cluster +
                                  "}, workload: {kind: collective, op: all_reduce, bytes: 1 MiB}}",
                              "a.yaml", {.sets = sets, .config_dirs = {kConfigs}})
        .problems.to_text();
  };
  EXPECT_EQ(said("gb200_nvl72", {}), "");
  EXPECT_NE(said("gb200_nvl72", {"cluster.scale_up.link.bandwidth=1338 GB/s"})
                .find("32 channels of a collective pass on at most 659.2 GB/s"),
            std::string::npos);
  EXPECT_EQ(said("nodes_16x_8x_h100", {}), "");
  EXPECT_NE(said("nodes_16x_8x_h100", {"cluster.scale_out.link.bandwidth=800 Gb/s"})
                .find("a NIC sends and receives only 45.62 GB/s (cluster.nic.bandwidth)"),
            std::string::npos);
  EXPECT_NE(said("node_8x_h100", {"collective.executor=dma", "workload.op=all_gather",
                                  "cluster.scale_up.link.bandwidth=700 GB/s"})
                .find("they copy at most 368.8 GB/s (cluster.gpu.dma.rate)"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::collective_choice_test
