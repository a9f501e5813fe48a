// The numbers of a machine, with what their files say of how sure they are.
#include "sim/scenario/machine_numbers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weft::machine_numbers_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";

std::vector<MachineNumber> numbers(const std::vector<std::string>& sets = {}) {
  return machine_numbers(kConfigs / "scenarios/embedding_a2a_2_nodes.yaml",
                         {.sets = sets, .config_dirs = {kConfigs}});
}

const MachineNumber& number(const std::vector<MachineNumber>& all, const std::string& path) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const MachineNumber& one) { return one.path == path; });
  EXPECT_NE(found, all.end()) << path;
  return found == all.end() ? all.front() : *found;
}

TEST(MachineNumbers, are_those_of_the_bases_with_their_tags) {
  const auto all = numbers();
  const MachineNumber& bandwidth = number(all, "cluster.gpu.memory.bandwidth");
  EXPECT_EQ(bandwidth.value, "1392 GB/s");
  EXPECT_EQ(bandwidth.sureness, Sureness::derived);  // the line's second tag is its source's
  EXPECT_TRUE(bandwidth.at.file.ends_with("mi210.yaml")) << bandwidth.at.file;
  EXPECT_EQ(number(all, "cluster.gpu.memory.latency").sureness, Sureness::background);
  EXPECT_FALSE(bandwidth.is_count());
  EXPECT_TRUE(number(all, "cluster.gpu.cus").is_count());
}

TEST(MachineNumbers, leave_out_words_lists_and_how_many_gpus_there_are) {
  for (const MachineNumber& one : numbers()) {
    EXPECT_NE(one.path, "cluster.nodes");
    EXPECT_NE(one.path, "cluster.gpus_per_node");
    EXPECT_NE(one.path, "cluster.gpu.name");
    EXPECT_NE(one.path, "cluster.gpu.collective.algorithms");
  }
}

TEST(MachineNumbers, that_are_set_have_no_tag) {
  const auto all = numbers({"cluster.gpu.memory.latency=500 ns"});
  const MachineNumber& latency = number(all, "cluster.gpu.memory.latency");
  EXPECT_EQ(latency.value, "500 ns");
  EXPECT_EQ(latency.sureness, Sureness::untagged);
  EXPECT_STREQ(tag_of(latency.sureness), "");
}

TEST(MachineNumbers, are_changed_with_their_unit_and_counts_by_one_at_least) {
  const auto all = numbers();
  const MachineNumber& latency = number(all, "cluster.gpu.memory.latency");  // 700 ns
  EXPECT_EQ(times(latency, 1.05), "735 ns");
  EXPECT_DOUBLE_EQ(factor_of(latency, "735 ns"), 1.05);
  const MachineNumber& channels = number(all, "cluster.gpu.collective.channels");  // 32
  EXPECT_EQ(times(channels, 1.01), "33");
  EXPECT_EQ(times(channels, 0.99), "31");
  EXPECT_DOUBLE_EQ(factor_of(channels, "33"), 33.0 / 32);
}

// A rate of messages is kept as the time between two, which shrinks as it grows.
TEST(MachineNumbers, that_are_rates_of_messages_grow_too) {
  MachineNumber rate{.path = "cluster.nic.message_rate", .value = "100 M/s", .at = {}};
  rate.type = counted_type("message rate");
  ASSERT_NE(rate.type, nullptr);
  const auto more = times(rate, 1.25);
  ASSERT_TRUE(more);
  EXPECT_NEAR(factor_of(rate, *more), 1.25, 1e-9) << *more;
}

TEST(MachineNumbers, have_the_spread_of_their_fit_where_their_comment_says_it) {
  std::string wrong;
  const auto none = spread_in("# [M] hbm_read: within 3 % of each", wrong);
  EXPECT_FALSE(none);
  EXPECT_EQ(wrong, "");
  EXPECT_DOUBLE_EQ(spread_in("# [M] x: within 3.1 %, +- 0.42 %", wrong)->relative, 0.0042);
  const auto with = spread_in("# [M] x, +- 1.5 %; with memory.bend -0.62, l2.latency 1 (y)", wrong);
  ASSERT_TRUE(with);
  ASSERT_EQ(with->with.size(), 2U);
  EXPECT_EQ(with->with[0], (std::pair<std::string, double>("memory.bend", -0.62)));
  EXPECT_EQ(with->with[1], (std::pair<std::string, double>("l2.latency", 1)));
  EXPECT_EQ(wrong, "");
}

TEST(MachineNumbers, with_a_spread_that_is_none_say_what_is_wrong) {
  for (const char* comment :
       {"# +- x %", "# +- 101 %", "# +- -1 %", "# +- 3", "# +- nan %", "# +- 1 %; with a",
        "# +- 1 %; with a.b 1.1", "# +- 1 %; with a.b 0.5, c nan", "# +- 1 %, with a.b 0.5",
        "# +- 1 % with a.b 0.5"}) {
    std::string wrong;
    EXPECT_FALSE(spread_in(comment, wrong)) << comment;
    EXPECT_NE(wrong, "") << comment;
  }
}

// Of a machine whose file says this of its memory's bandwidth and bend.
std::vector<MachineNumber> with_comments(const std::string& bandwidth, const std::string& bend) {
  const fs::path file =
      fs::temp_directory_path() / ("machine_numbers_" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << "name: a\ncluster:\n  base: clusters/node_8x_h100\n  gpu:\n    memory:\n"
                         "      bandwidth: 3 TB/s  # "
                      << bandwidth << "\n      bend: 3  # " << bend
                      << "\nworkload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n"
                         "modes: [bulk]\n";
  std::vector<MachineNumber> all = machine_numbers(file, {.sets = {}, .config_dirs = {kConfigs}});
  fs::remove(file);
  return all;
}

TEST(MachineNumbers, name_the_others_by_their_whole_paths) {
  const auto all = with_comments("+- 2 %; with memory.bend -0.5", "+- 9 %");
  const MachineNumber& bandwidth = number(all, "cluster.gpu.memory.bandwidth");
  ASSERT_TRUE(bandwidth.spread) << bandwidth.wrong_spread;
  EXPECT_EQ(bandwidth.spread->correlation_with("cluster.gpu.memory.bend"), -0.5);
  EXPECT_EQ(bandwidth.spread->correlation_with("cluster.gpu.memory.latency"), std::nullopt);
}

TEST(MachineNumbers, with_others_that_there_are_not_say_so) {
  for (const char* key : {"memory.bnd", "nd", "emory.bend", "memory.bandwidth", "memory"}) {
    const auto all = with_comments("+- 2 %; with " + std::string(key) + " -0.5", "+- 9 %");
    const MachineNumber& bandwidth = number(all, "cluster.gpu.memory.bandwidth");
    EXPECT_FALSE(bandwidth.spread) << key;
    EXPECT_NE(bandwidth.wrong_spread.find("names no other number"), std::string::npos) << key;
  }
}

TEST(MachineNumbers, of_which_both_say_a_correlation_say_the_same) {
  const std::string bend = "+- 9 %; with memory.bandwidth ";
  const auto same = with_comments("+- 2 %; with memory.bend -0.5", bend + "-0.50");
  EXPECT_TRUE(number(same, "cluster.gpu.memory.bandwidth").spread);
  EXPECT_TRUE(number(same, "cluster.gpu.memory.bend").spread);
  const auto unlike = with_comments("+- 2 %; with memory.bend -0.5", bend + "-0.4");
  EXPECT_NE(number(unlike, "cluster.gpu.memory.bandwidth").wrong_spread, "");
}

}  // namespace
}  // namespace weft::machine_numbers_test
