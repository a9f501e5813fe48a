// ASTRA-sim's network files as clusters: what becomes of shapes, links and counts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/scenario/load.h"

namespace weft::astra_sim_test {
namespace {

namespace fs = std::filesystem;

class AstraSim : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  ClusterSpec cluster(const std::string& network, const std::string& more = "") {
    std::ofstream(folder_ / "network.yml") << network;
    std::ofstream(folder_ / "scenario.yaml")
        << "name: test\ncluster: {from_astra_sim: network.yml, gpu: {base: gpus/ideal}" << more
        << "}\nworkload: {kind: collective, op: all_reduce, bytes: 1 MB}\n";
    const Loaded loaded =
        load_scenario(folder_ / "scenario.yaml",
                      {.sets = {}, .config_dirs = {std::string(WEFT_SOURCE_DIR) + "/configs"}});
    EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
    return loaded.scenario ? loaded.scenario->cluster : ClusterSpec();
  }

  fs::path folder_ = fs::temp_directory_path() / ("weft_astra_sim_" + std::to_string(::getpid()));
};

TEST_F(AstraSim, one_dimension_is_a_node) {
  const ClusterSpec ring = cluster(
      "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]\n");
  EXPECT_EQ(ring.nodes, 1);
  EXPECT_EQ(ring.gpus_per_node, 8);
  EXPECT_EQ(ring.scale_up->topology.word(), "torus");
  EXPECT_EQ(ring.scale_up->topology->grid(), (std::vector<int>{8}));
  EXPECT_EQ(ring.scale_up->link.bandwidth, gigabytes_per_second(50));
  EXPECT_EQ(ring.scale_up->link.latency, nanoseconds(500));
  const ClusterSpec switched =
      cluster("topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [400 ]\nlatency: [ 936.25 ]\n");
  EXPECT_EQ(switched.scale_up->topology.word(), "switch");
  EXPECT_EQ(switched.scale_up->link.latency, picoseconds(936'250));
}

TEST_F(AstraSim, rings_are_a_torus) {
  const ClusterSpec torus = cluster(
      "topology: [ Ring, Ring ]\nnpus_count: [4, 8 ]\nbandwidth: [80.0, 80.0]\n"
      "latency: [ 1000.0, 1000.0 ]\n");
  EXPECT_EQ(torus.gpus_per_node, 32);
  EXPECT_EQ(torus.scale_up->topology->grid(), (std::vector<int>{4, 8}));
}

TEST_F(AstraSim, a_switch_outside_joins_nodes) {
  const ClusterSpec nodes = cluster(
      "topology: [ FullyConnected, Switch ]\nnpus_count: [ 4, 16 ]\nbandwidth: [ 100, 25 ]\n"
      "latency: [ 100, 500 ]\n",
      ", name: mine");
  EXPECT_EQ(nodes.name, "mine");
  EXPECT_EQ(nodes.nodes, 16);
  EXPECT_EQ(nodes.gpus_per_node, 4);
  EXPECT_EQ(nodes.scale_up->topology.word(), "fully_connected");
  EXPECT_EQ(nodes.scale_out->topology.word(), "switch");
  EXPECT_EQ(nodes.scale_out->link.bandwidth, gigabytes_per_second(25));
  EXPECT_EQ(nodes.nic->per_node, 4);
}

}  // namespace
}  // namespace weft::astra_sim_test
