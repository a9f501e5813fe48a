// What stands in configs/: it loads, every number says where it comes from, and what belongs
// together fits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sim/gpu_model/residency.h"
#include "sim/scenario/load.h"

namespace weft::configs_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kConfigs / folder)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

ClusterSpec loaded(const std::string& cluster) {
  const std::string text = "{name: a, cluster: " + cluster +
                           ", workload: {kind: collective, op: all_to_all, bytes: 1 MB}}";
  const Loaded result = load_scenario_text(text, "a.yaml", {.sets = {}, .config_dirs = {kConfigs}});
  EXPECT_EQ(result.problems.to_text(), "") << cluster;
  return result.scenario.value_or(Scenario{}).cluster;
}

ClusterSpec shipped(const std::string& name) { return loaded("{base: clusters/" + name + "}"); }

// Two GPUs of a file, each in a node of its own with a NIC of a file.
ClusterSpec pair_of(const std::string& gpu, const std::string& nic) {
  return loaded("{name: b, nodes: 2, gpus_per_node: 1, gpu: {base: gpus/" + gpu +
                "}, nic: {base: nics/" + nic +
                "}, scale_out: {shape: switch, link: {bandwidth: 1 GB/s, latency: 1 us}}}");
}

// --- every number has a source

bool has_tag(const std::string& comment) {
  for (const char* tag : {"[P]", "[S]", "[M]", "[D]", "[BG]"}) {
    if (comment.find(tag) != std::string::npos) return true;
  }
  return false;
}

bool has_number(const std::string& value) {
  return std::any_of(value.begin(), value.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Lines with a number whose source is neither behind it, nor behind the line that its comment
// continues ("#     "), nor in a comment that stands above it or above more such lines.
std::vector<std::string> lines_without_source(const fs::path& file) {
  constexpr std::size_t kContinues = 20;  // a comment this far right goes on with the one above
  std::vector<std::string> found;
  std::string above;  // the comment that covers the lines below it
  bool before = false;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    const std::size_t hash = line.find('#');
    if (begin == std::string::npos || (hash != begin && hash != std::string::npos)) above.clear();
    if (begin == std::string::npos) continue;
    if (hash == begin) {
      if (begin < kContinues) above += line;
      continue;
    }
    const std::string comment = hash == std::string::npos ? "" : line.substr(hash);
    const std::size_t colon = std::min(line.find(':'), hash);
    const std::string key = line.substr(begin, colon - begin);
    const bool explains_tags = above.find("Tags:") != std::string::npos;
    before = has_tag(comment) || (comment.starts_with("#     ") && before) ||
             (has_tag(above) && !explains_tags);
    if (key == "name" || key == "base" || before) continue;
    if (has_number(line.substr(colon, hash - colon))) found.push_back(line);
  }
  return found;
}

TEST(Configs, every_number_of_a_gpu_a_nic_or_a_model_has_a_source) {
  for (const std::string folder : {"gpus", "nics", "models", "kernels"}) {
    for (const std::string& name : files_of(folder)) {
      if (name == "ideal") continue;  // no number there is of a real device
      for (const std::string& line : lines_without_source(kConfigs / folder / (name + ".yaml"))) {
        ADD_FAILURE() << folder << "/" << name << ".yaml: " << line;
      }
    }
  }
}

TEST(Configs, a_number_without_a_source_is_found) {
  const fs::path file = fs::path(::testing::TempDir()) / "weft_no_source.yaml";
  std::ofstream(file) << "# Tags: [P] read\nname: A1\nbase: b2\ncus: 4  # [P] sheet\n"
                         "cu:\n  waves: 8  # sheet\n  # All [D].\n  wgs: 2\n  lds: 1 B\n\n"
                         "dma:\n  next: 7 ns\n  host: 1 ns  # [D] of 3 ns\n"
                         "  signal: 2 ns  #     the rest\n  rate: 1 GB/s  # the rest\n";
  EXPECT_EQ(lines_without_source(file),
            (std::vector<std::string>{"  waves: 8  # sheet", "  next: 7 ns",
                                      "  rate: 1 GB/s  # the rest"}));
  fs::remove(file);
}

// --- files load

TEST(Configs, every_gpu_loads_with_every_nic) {
  for (const std::string& gpu : files_of("gpus")) {
    for (const std::string& nic : files_of("nics")) {
      const ClusterSpec cluster = pair_of(gpu, nic);
      EXPECT_NE(cluster.gpu.name, "") << gpu;
      EXPECT_TRUE(cluster.nic) << nic;
    }
  }
}

TEST(Configs, no_two_gpus_have_the_same_name) {
  std::map<std::string, std::string> names;
  for (const std::string& gpu : files_of("gpus")) {
    const auto [other, is_new] = names.emplace(pair_of(gpu, "ideal").gpu.name, gpu);
    EXPECT_TRUE(is_new) << gpu << " and " << other->second;
  }
}

// --- what belongs together fits

double real(std::int64_t count) { return static_cast<double>(count); }

// Peaks of data sheets: HBM, and all links of a GPU in one direction, in GB/s.
struct Peak {
  double memory;
  double links;
};
const std::map<std::string, Peak> kPeaks = {
    {"MI210", {1'638.4, 150}},       // 3 links of 50
    {"MI250X GCD", {1'638.4, 350}},  // 7 links of 50 to other GCDs, at most
    {"MI300X", {5'300, 448}},        // 7 links of 64
    {"MI355X", {8'000, 537.6}},      // 7 links of 76.8
    {"V100", {900, 150}},            // 6 links of 25
    {"A100", {2'039, 300}},         {"H100", {3'350, 450}},  {"H200", {4'800, 450}},
    {"B200", {8'000, 900}},         {"GB200", {8'000, 900}},
};

std::vector<GpuSpec> real_gpus() {
  std::vector<GpuSpec> gpus;
  for (const std::string& name : files_of("gpus")) {
    if (name != "ideal") gpus.push_back(pair_of(name, "ideal").gpu);
  }
  return gpus;
}

TEST(Configs, memory_is_not_faster_than_its_data_sheet_and_not_much_slower) {
  for (const GpuSpec& gpu : real_gpus()) {
    ASSERT_TRUE(kPeaks.contains(gpu.name)) << gpu.name;
    const double part = real(gpu.memory.bandwidth.count()) * 1e-9 / kPeaks.at(gpu.name).memory;
    EXPECT_LE(part, 1) << gpu.name;
    EXPECT_GE(part, 0.7) << gpu.name;
  }
}

// Little's law: WGs of 256 threads with 64 registers and 4 loads of 16 B fill the memory, and one
// of them on each CU does not by far overfill it.
TEST(Configs, resident_wgs_fill_the_memory) {
  for (const GpuSpec& gpu : real_gpus()) {
    const double in_flight = 256 * 4 * 16;
    const double wg_rate = in_flight / (real(gpu.memory.latency.count()) * 1e-12);
    const int resident = wgs_per_cu(gpu.cu, footprint(256, 64, bytes(0), gpu.wave_size));
    const double capacity = real(gpu.memory.bandwidth.count());
    EXPECT_GE(wg_rate * gpu.cus * resident, 1.5 * capacity) << gpu.name;
    EXPECT_LE(wg_rate * gpu.cus, 4 * capacity) << gpu.name;
    EXPECT_LT(gpu.l2.latency, gpu.memory.latency) << gpu.name;
  }
}

TEST(Configs, matrix_units_are_faster_than_vectors) {
  for (const GpuSpec& gpu : real_gpus()) {
    const double ratio = real(gpu.bf16_matrix.count()) / real(gpu.fp32_vector.count());
    EXPECT_GE(ratio, 4) << gpu.name;
    EXPECT_LE(ratio, 64) << gpu.name;
  }
}

// What leaves one GPU for its node when all others are sent to at once.
double egress(const ClusterSpec& cluster) {
  const double link = real(cluster.scale_up->link.bandwidth.count());
  return link * real(cluster.scale_up->topology->links_of_endpoint(cluster.gpus_per_node));
}

TEST(Configs, links_of_a_node_stay_below_the_data_sheet_and_are_filled_by_who_uses_them) {
  for (const std::string& name : files_of("clusters")) {
    const ClusterSpec cluster = shipped(name);
    if (!cluster.scale_up) continue;
    const GpuSpec& gpu = cluster.gpu;
    const double links = egress(cluster);
    const double part = links * 1e-9 / kPeaks.at(gpu.name).links;
    EXPECT_LE(part, 1) << name;
    // An MI250X's are fewer than seven where they lead out of its package.
    EXPECT_GE(part, gpu.name == "MI250X GCD" ? 0.25 : 0.7) << name;
    EXPECT_GE(real(gpu.memory.bandwidth.count()), 2 * links) << name;
    EXPECT_GE(gpu.collective.channels * real(gpu.collective.channel_rate.count()), 0.9 * links)
        << name;
    EXPECT_GE(gpu.collective.channels * real(gpu.collective.exchange_rate.count()), 0.9 * links)
        << name;
    EXPECT_GE(gpu.cus * real(gpu.peer_store.wg_rate.count()), links) << name;
    // One copy engine fills one link, as far as a kernel's stores do.
    const double link = real(cluster.scale_up->link.bandwidth.count());
    EXPECT_GE(gpu.dma.engines * real(gpu.dma.rate.count()), 0.9 * std::min(links, link)) << name;
  }
}

TEST(Configs, a_link_between_nodes_carries_what_its_nic_sends) {
  for (const std::string& name : files_of("clusters")) {
    const ClusterSpec cluster = shipped(name);
    if (!cluster.nic || cluster.gpu.name == "ideal") continue;
    EXPECT_EQ(cluster.scale_out->link.bandwidth, cluster.nic->bandwidth) << name;
  }
}

TEST(Configs, roce_carries_less_than_infiniband_and_takes_longer) {
  for (const std::string card : {"connectx6", "connectx7"}) {
    const NicSpec infiniband = *pair_of("ideal", card).nic;
    const NicSpec roce = *pair_of("ideal", card + "_roce").nic;
    EXPECT_LT(roce.bandwidth, infiniband.bandwidth) << card;
    EXPECT_GT(roce.latency, infiniband.latency) << card;
    EXPECT_EQ(roce.message_interval, infiniband.message_interval) << card;
  }
}

}  // namespace
}  // namespace weft::configs_test
