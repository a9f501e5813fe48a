// `weft cache` as a user meets it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::cache_command_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// 64 WGs of the 64 CUs read their KiB twice, and write it: twice 64 KiB of loads, one of stores.
constexpr const char* kTwice = R"(name: twice
arrays:
  - {name: x, size: 64 KiB}
  - {name: y, size: 64 KiB}
kernels:
  - name: read_twice
    rows: 64
    wgs_per_cu: 1
    in_flight: 1
    accesses:
      - {op: load, array: x, when: start, row: 1 KiB, per_row: 1 KiB}
      - {op: load, array: x, row: 1 KiB, per_row: 1 KiB}
      - {op: store, array: y, when: end, row: 1 KiB, per_row: 1 KiB}
)";
constexpr const char* kFill = R"(name: fill
arrays: [{name: y, size: 64 KiB}]
kernels:
  - name: fill
    rows: 64
    wgs_per_cu: 1
    accesses:
      - {op: store, array: y, row: 1 KiB, per_row: 1 KiB}
)";
const std::string kMachine = " --machine apu_64cu";

class CacheCommandLine : public InOwnFolder {
 protected:
  void SetUp() override {
    write("twice.yaml", kTwice);
    write("fill.yaml", kFill);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
  [[nodiscard]] json runs_in(const std::string& name) const {
    return json::parse(text_of(folder_ / name))["runs"];
  }
};

TEST_F(CacheCommandLine, what_is_read_twice_comes_from_the_dram_once_if_it_is_cached) {
  const Ended ended = weft("cache twice.yaml --json all.json" + kMachine);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json runs = runs_in("all.json");
  ASSERT_EQ(runs.size(), 6U);
  double least = 2;
  for (const json& run : runs) {
    const bool caches = run["policy"] != "uncached";
    EXPECT_EQ(run["dram_read_bytes"], caches ? 65536 : 131072) << run;
    EXPECT_EQ(run["dram_written_bytes"], 65536) << run;
    EXPECT_EQ(run["l1_hit_rate"], caches ? 0.5 : 0.0) << run;
    EXPECT_EQ(run["l2_hit_rate"], 0.0) << "the L1 has it: " << run;
    least = std::min(least, run["over_best_static"].get<double>());
  }
  EXPECT_LE(least, 1);
}

TEST_F(CacheCommandLine, prints_a_table_an_application) {
  const Ended ended = weft("cache twice.yaml ./fill.yaml --policy cache_r" + kMachine);
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("twice on APU of 64 CUs\npolicy    time_us ")) << ended.out;
  EXPECT_NE(ended.out.find("\n\nfill on APU of 64 CUs\npolicy "), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("50 %"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("uncached"), std::string::npos) << ended.out;
}

TEST_F(CacheCommandLine, takes_names_as_weft_list_has_them) {
  const Ended ended = weft(
      "cache cache/applications/fw_pooling --machine cache/machines/apu_64cu --policy uncached");
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("FwPool on APU of 64 CUs\n")) << ended.out;
}

TEST_F(CacheCommandLine, a_rate_of_nothing_is_left_empty) {
  const Ended ended =
      weft("cache fill.yaml --policy pc_bypass --json one.json --csv one.csv" + kMachine);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json run = runs_in("one.json")[0];
  EXPECT_TRUE(run["l1_hit_rate"].is_null()) << "there are no loads: " << run;
  EXPECT_TRUE(run["over_best_static"].is_null()) << "no static policy was run: " << run;
  const std::string csv = text_of(folder_ / "one.csv");
  EXPECT_TRUE(csv.starts_with("application,policy,time_us,over_best_static,l1_hit_rate,")) << csv;
  EXPECT_NE(csv.find("\nfill,pc_bypass,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",,,,0,65536,"), std::string::npos) << csv;
}

TEST_F(CacheCommandLine, writes_the_same_bytes_whatever_the_number_of_jobs) {
  ASSERT_EQ(weft("cache twice.yaml fill.yaml -q -j 1 -o one" + kMachine).out, "");
  ASSERT_EQ(weft("cache twice.yaml fill.yaml -q -j 5 -o five" + kMachine).status, 0);
  for (const char* file : {"cache.json", "cache.csv"}) {
    const std::string text = text_of(folder_ / "one" / file);
    EXPECT_EQ(text, text_of(folder_ / "five" / file)) << file;
    EXPECT_GT(text.size(), 1000U) << file;
  }
  const std::string csv = text_of(folder_ / "one/cache.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 6);
}

TEST_F(CacheCommandLine, names_are_those_of_the_configs_and_nearer_ones_come_first) {
  fs::create_directories(folder_ / "configs/cache/applications");
  write("configs/cache/applications/mine.yaml", kTwice);
  const std::string in_configs = "cd configs && '" WEFT_BINARY "' ";
  const Ended mine = shell_in(folder_, "(" + in_configs + "cache mine --policy cache_r" + kMachine +
                                           ") >out.txt 2>err.txt");
  EXPECT_EQ(mine.status, 0) << mine.err;
  EXPECT_TRUE(mine.out.starts_with("twice on APU of 64 CUs\n")) << mine.out;
}

TEST_F(CacheCommandLine, every_mistake_is_said_at_once_and_nothing_is_written) {
  std::string bad = kTwice;
  bad.replace(bad.find("64 KiB"), 6, "64");
  write("bad.yaml", bad);
  bad = kFill;
  bad.replace(bad.find("array: y"), 8, "array: z");
  write("worse.yaml", bad);
  write("machine.yaml", "name: small\ncuss: 3\n");
  const Ended ended = weft(
      "cache bad.yaml worse.yaml fw_solfmax FwGRU gone.yaml twice.yaml ./twice.yaml "
      "--policy cache_r --policy cache_r --machine machine.yaml -o out --csv all.csv");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out, "");
  for (const char* words :
       {"bad.yaml:3:21: error: arrays[0].size: missing unit",
        "worse.yaml:8:28: error: kernels[0].accesses[0].array: must be one of y, not 'z'",
        "fw_solfmax: error: configs/cache/applications has no file of this name; did you mean "
        "'fw_softmax'",
        "FwGRU: error: configs/cache/applications has no file of this name; did you mean 'fw_gru'?",
        "gone.yaml: error: ", "./twice.yaml: error: its name, twice, is also that of twice.yaml",
        "--policy cache_r: error: given twice",
        "machine.yaml:2:1: error: cuss: unknown key; did you mean 'cus'?", "error: l2: required"}) {
    EXPECT_TRUE(ended.says(words)) << words << "\n" << ended.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_FALSE(fs::exists(folder_ / "all.csv"));
}

TEST_F(CacheCommandLine, a_machine_is_required_and_a_policy_is_one_that_there_is) {
  EXPECT_TRUE(weft("cache twice.yaml").says("cache: --machine is required: ")) << "no machine";
  const Ended ended = weft("cache twice.yaml --policy cache_wr" + kMachine);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("'cache_wr' is not one of uncached cache_r cache_rw ")) << ended.err;
}

TEST_F(CacheCommandLine, what_cannot_be_written_is_said_before_the_runs) {
  const Ended ended = weft("cache twice.yaml -o fill.yaml" + kMachine);
  EXPECT_EQ(ended.status, 2);
  EXPECT_TRUE(ended.says("cannot write fill.yaml")) << ended.err;
}

}  // namespace
}  // namespace weft::cache_command_test
