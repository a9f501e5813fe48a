// `weft run` as a user meets it: what it prints, what it writes, how it ends.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"
#include "tests/sanitized.h"

namespace weft::run_command_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Four GPUs and little work: some ten milliseconds a run.
const std::string kScenario =
    std::string(WEFT_SOURCE_DIR) + "/configs/scenarios/embedding_a2a_4_gpus.yaml";
const std::string kSmall = kScenario + " --set workload.batch=256 --set workload.tables_per_gpu=4";

class RunCommand : public InOwnFolder {
 protected:
  // In the test's own folder.
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
  [[nodiscard]] Ended shell(const std::string& command) const { return shell_in(folder_, command); }
  // The user made a mistake: said on stderr, nothing printed, nothing written.
  void expect_refused(const std::string& arguments, const std::string& words) const {
    const Ended ended = weft("run " + arguments);
    EXPECT_EQ(ended.status, 1) << arguments;
    EXPECT_EQ(ended.out, "") << arguments;
    EXPECT_NE(ended.err.find(words), std::string::npos) << arguments << "\n" << ended.err;
    EXPECT_FALSE(fs::exists(folder_ / "results")) << arguments;
  }

  // But for what the machine has to do with.
  void expect_same_results(const char* one, const char* other) const {
    for (const char* name :
         {"operators.csv", "links.csv", "link_classes.csv", "over_time.csv", "manifest.json"}) {
      EXPECT_EQ(text_of(folder_ / one / name), text_of(folder_ / other / name)) << name;
    }
    EXPECT_EQ(summary_without_machine(one), summary_without_machine(other));
  }
  [[nodiscard]] std::string summary_without_machine(const char* folder) const {
    Json summary = Json::parse(text_of(folder_ / folder / "summary.json"));
    for (const char* key : {"wall_s", "events_per_s", "peak_rss_bytes"}) {
      EXPECT_EQ(summary["engine"].erase(key), 1U) << key;
    }
    return summary.dump();
  }
};

TEST_F(RunCommand, prints_a_table_and_writes_nothing_unless_asked) {
  const Ended ended = weft("run " + kSmall);
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* words : {"mode ", "bulk ", "kernel ", "fused ", "why: ", "ledger: balanced ("}) {
    EXPECT_NE(ended.out.find(words), std::string::npos) << words << "\n" << ended.out;
  }
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "out.txt and err.txt";
}

TEST_F(RunCommand, writes_its_files_and_leaves_nothing_else) {
  EXPECT_EQ(weft("run " + kSmall + " -o results/new").status, 0);
  for (const char* name : {"summary.json", "operators.csv", "links.csv", "link_classes.csv",
                           "over_time.csv", "resolved.yaml", "manifest.json", "files.json"}) {
    EXPECT_GT(text_of(folder_ / "results/new" / name).size(), 50U) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "results/new"), {}), 8);
}

TEST_F(RunCommand, json_alone_is_on_stdout_and_equals_summary_json) {
  const Ended ended = weft("run " + kSmall + " --json -o results");
  Json printed = Json::parse(ended.out);
  Json written = Json::parse(text_of(folder_ / "results/summary.json"));
  EXPECT_EQ(printed, written);
  EXPECT_EQ(printed["ledger"]["balanced"], true);
  EXPECT_GT(printed["modes"]["bulk"]["time_us"], 1.0);
  EXPECT_TRUE(printed["speedup"].contains("fused_vs_bulk"));
}

TEST_F(RunCommand, the_same_input_gives_the_same_bytes) {
  EXPECT_EQ(weft("run " + kSmall + " --quiet -o a").status, 0);
  EXPECT_EQ(weft("run " + kSmall + " --json -o b").status, 0);
  expect_same_results("a", "b");
}

// A run in three shares, and pieces of a model two at a time.
TEST_F(RunCommand, any_number_of_cores_gives_the_same_bytes) {
  const std::string large = std::string(WEFT_SOURCE_DIR) +
                            "/configs/scenarios/embedding_a2a_128_nodes.yaml --set cluster.nodes=16"
                            " --set 'cluster.scale_out.dims=[4, 4]'";
  const std::string model =
      std::string(WEFT_SOURCE_DIR) + "/configs/scenarios/models/mixtral_prefill.yaml";
  for (const std::string& scenario : {large, model}) {
    EXPECT_EQ(weft("run " + scenario + " --quiet -j 1 -o one").status, 0);
    EXPECT_EQ(weft("run " + scenario + " --quiet -j 3 -o three").status, 0);
    expect_same_results("one", "three");
  }
}

TEST_F(RunCommand, quiet_prints_nothing_on_success) {
  const Ended ended = weft("run " + kSmall + " --quiet -o results");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out + ended.err, "");
}

TEST_F(RunCommand, quiet_and_json_print_the_summary_and_nothing_else) {
  const Ended ended = weft("run " + kSmall + " --quiet --json -o results");
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(Json::parse(ended.out), Json::parse(text_of(folder_ / "results/summary.json")));
  EXPECT_EQ(ended.err, "");
}

// Neither warnings nor where files are; of a failure, why.
TEST_F(RunCommand, quiet_and_json_print_nothing_else_even_where_there_is_something_to_say) {
  const std::string warns = kSmall +
                            " --set 'cluster.scale_up.link.bandwidth=9000 GB/s' --json "
                            "--trace t.json.gz --trace-detail all --trace-limit '1 MB'";
  const Ended told = weft("run " + warns);
  EXPECT_TRUE(told.says("warning: cluster.scale_up.link.bandwidth: ")) << told.err;
  EXPECT_TRUE(told.says("the timeline is in t.json.gz")) << told.err;
  EXPECT_EQ(Json::parse(told.out)["ledger"]["balanced"], true);
  const Ended quiet = weft("run " + warns + " --quiet");
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(Json::parse(quiet.out)["modes"], Json::parse(told.out)["modes"]);
  expect_refused(kSmall + " -q --json --set workload.dim=0", "workload.dim");
}

TEST_F(RunCommand, stops_after_a_stage_and_prints_it) {
  const Ended scenario = weft("run " + kSmall + " --stop-after scenario");
  EXPECT_EQ(scenario.status, 0);
  EXPECT_NE(scenario.out.find("  batch: 256\n"), std::string::npos) << scenario.out;
  const Ended cluster = weft("run " + kSmall + " --stop-after=cluster");
  EXPECT_EQ(cluster.out.find("cluster: 1 node x 4 "), 0U) << cluster.out;
  const Ended model = weft("run " + kSmall + " --stop-after model");
  EXPECT_EQ(model.out.find("model: 2 operators, 0 blocks\n"), 0U) << model.out;
  const Ended tasks = weft("run " + kSmall + " --stop-after tasks");
  for (const char* mode : {"mode: bulk\n", "mode: kernel\n", "mode: fused\n"}) {
    EXPECT_NE(tasks.out.find(mode), std::string::npos) << mode << "\n" << tasks.out;
  }
}

TEST_F(RunCommand, the_printed_scenario_is_a_scenario_that_gives_the_same_run) {
  ASSERT_EQ(shell("'" WEFT_BINARY "' run " + kSmall + " --stop-after scenario > again.yaml").status,
            0);
  const Json first = Json::parse(weft("run " + kSmall + " --json").out);
  const Json again = Json::parse(weft("run again.yaml --json").out);
  EXPECT_EQ(first["scenario_hash"], again["scenario_hash"]);
  EXPECT_EQ(first["modes"], again["modes"]);
}

TEST_F(RunCommand, set_changes_a_value_and_the_hash) {
  const Json before = Json::parse(weft("run " + kSmall + " --json").out);
  const Json after = Json::parse(weft("run " + kSmall + " --set workload.pooling=140 --json").out);
  EXPECT_NE(before["scenario_hash"], after["scenario_hash"]);
  EXPECT_GT(after["modes"]["bulk"]["time_us"], before["modes"]["bulk"]["time_us"]);
}

TEST_F(RunCommand, seed_is_short_for_a_set) {
  const Json seed = Json::parse(weft("run " + kSmall + " --seed 12 --json").out);
  const Json set = Json::parse(weft("run " + kSmall + " --set run.seed=12 --json").out);
  EXPECT_EQ(seed["seed"], 12);
  EXPECT_EQ(seed["scenario_hash"], set["scenario_hash"]);
  EXPECT_EQ(seed["modes"], set["modes"]);
}

TEST_F(RunCommand, range_says_how_sure_times_are) {
  const Json plain = Json::parse(weft("run " + kSmall + " --json").out);
  EXPECT_FALSE(plain["modes"]["bulk"].contains("time_low_us"));
  EXPECT_EQ(plain["scenario_hash"], Json::parse(weft("run " + kSmall +
                                                     " --set run.range=false "
                                                     "--json")
                                                    .out)["scenario_hash"]);
  const Json asked = Json::parse(weft("run " + kSmall + " --range --json").out);
  const Json& bulk = asked["modes"]["bulk"];
  EXPECT_EQ(bulk["time_us"], plain["modes"]["bulk"]["time_us"]);
  EXPECT_LT(bulk["time_low_us"], bulk["time_us"]);
  EXPECT_GT(bulk["time_high_us"], bulk["time_us"]);
  const Ended table = weft("run " + kSmall + " --range");
  EXPECT_NE(table.out.find("80 % within"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("80 % of it within"), std::string::npos) << table.out;
  // Of the speed-up, too, which bulk itself has none of.
  EXPECT_FALSE(bulk.contains("times_as_fast_low"));
  const Json& fused = asked["modes"]["fused"];
  EXPECT_LT(fused["times_as_fast_low"], asked["speedup"]["fused_vs_bulk"]);
  EXPECT_GT(fused["times_as_fast_high"], asked["speedup"]["fused_vs_bulk"]);
  EXPECT_LT(fused["times_as_fast_as_unfused_low"], asked["speedup"]["fused_vs_unfused"]);
  EXPECT_GT(fused["times_as_fast_as_unfused_high"], asked["speedup"]["fused_vs_unfused"]);
  EXPECT_FALSE(asked["modes"]["kernel"].contains("times_as_fast_as_unfused_low"));
  EXPECT_NE(table.out.find("80 % of that within"), std::string::npos) << table.out;
}

TEST_F(RunCommand, says_where_the_path_of_a_trace_stands_that_is_not_there) {
  std::ofstream(folder_ / "trace.yaml") << "name: a\ncluster: {base: clusters/node_8x_h100}\n"
                                           "workload:\n  kind: pytorch\n  path: missing\n";
  expect_refused("trace.yaml", "trace.yaml:5:3: error: workload.path: missing: no such folder");
}

TEST_F(RunCommand, mode_replaces_the_modes_of_the_scenario) {
  const Json fused = Json::parse(weft("run --mode fused " + kSmall + " --json").out);
  EXPECT_EQ(fused["modes"].size(), 1U);
  EXPECT_TRUE(fused["modes"].contains("fused"));
  EXPECT_EQ(fused["speedup"], Json::object());
  const Json two = Json::parse(weft("run --mode fused --mode bulk " + kSmall + " --json").out);
  EXPECT_EQ(two["modes"].size(), 2U);
  EXPECT_EQ(two["modes"]["fused"], fused["modes"]["fused"]) << "one mode knows nothing of another";
}

TEST_F(RunCommand, the_manifest_says_how_to_do_it_again) {
  ASSERT_EQ(weft("run " + kSmall + " --mode fused --seed 9 -q -o first").status, 0);
  const Json manifest = Json::parse(text_of(folder_ / "first/manifest.json"));
  const std::string command = manifest["command"];
  ASSERT_EQ(command.find("weft run "), 0U) << command;
  ASSERT_EQ(weft(command.substr(5) + " -q -o again").status, 0);
  EXPECT_EQ(text_of(folder_ / "first/manifest.json"), text_of(folder_ / "again/manifest.json"));
  EXPECT_EQ(manifest["inputs"][0]["path"], kScenario);
}

TEST_F(RunCommand, mistakes_on_the_command_line_are_refused) {
  expect_refused("", "SCENARIO is required");
  expect_refused(kSmall + " --bogus -o results", "--bogus");
  expect_refused(kSmall + " --mode fuse -o results", "'fuse' is not one of bulk kernel pipelined ");
  expect_refused(kSmall + " --stop-after engine",
                 "'engine' is not one of scenario cluster model tasks");
  expect_refused(kSmall + " --seed some -o results", "seed");
  EXPECT_EQ(weft("").status, 1);
  EXPECT_EQ(weft("walk").status, 1);
}

TEST_F(RunCommand, mistakes_in_the_scenario_are_refused_all_at_once) {
  expect_refused("nowhere.yaml -o results", "nowhere.yaml: no such file");
  expect_refused(kSmall + " --set workload.bacth=1 -o results", "workload.bacth");
  const std::string two = kSmall + " --set workload.dim=0 --set workload.pooling=x -o results";
  expect_refused(two, "workload.dim");
  expect_refused(two, "workload.pooling");
}

TEST_F(RunCommand, a_file_of_another_command_is_answered_with_that_command) {
  std::ofstream(folder_ / "sweep.yaml") << "name: a\nscenario: b\naxes: []\n";
  std::ofstream(folder_ / "scenario.yaml") << "base: scenarios/c\nworklod: {}\n";
  std::ofstream(folder_ / "application.yaml") << "name: a\narrays: []\nkernels: []\n";
  struct Given {
    std::string command;
    const char* says;
  };
  const std::string gpu = std::string(WEFT_SOURCE_DIR) + "/configs/gpus/h200.yaml";
  constexpr const char* kScenarioSays =
      "scenario.yaml: error: this is a scenario; run it with: weft run scenario.yaml\n";
  for (const auto& [command, says] :
       {Given{"run sweep.yaml",
              "sweep.yaml: error: this is a sweep file; run it with: weft sweep sweep.yaml\n"},
        Given{"run application.yaml",
              "application.yaml: error: this is an application for caches; run it with: weft cache "
              "application.yaml\n"},
        Given{"sweep scenario.yaml", kScenarioSays},
        Given{"cache scenario.yaml --machine h200", kScenarioSays},
        Given{"validate scenario.yaml --cluster c.yaml", kScenarioSays},
        Given{"calibrate scenario.yaml -o h.yaml --base " + gpu, kScenarioSays}}) {
    const Ended ended = weft(command);
    EXPECT_EQ(ended.status, 1) << command;
    EXPECT_TRUE(ended.says(says)) << command << "\n" << ended.err;
    EXPECT_FALSE(ended.says("unknown key")) << command << "\n" << ended.err;
  }
}

// On a terminal, where lines come soonest: of some seconds, the first after one and a half.
TEST_F(RunCommand, what_takes_long_says_what_it_is_made_of_and_how_far_it_is) {
  const std::string run =
      "'" WEFT_BINARY "' run " + std::string(WEFT_SOURCE_DIR) +
      "/configs/scenarios/embedding_a2a_128_nodes.yaml --mode fused" +
      (kSanitized ? " --set 'cluster={nodes: 64, scale_out: {dims: [8, 8]}}'"
                  : " --set 'cluster={nodes: 256, scale_out: {dims: [16, 16]}}'");
  const auto told = [&](const std::string& command) {
    return shell("script -qec \"" + command + "\" /dev/null >out.txt 2>err.txt </dev/null").out;
  };
  const std::string all = told(run);
  EXPECT_NE(all.find(kSanitized ? "fused: 64 GPUs, 64 kernels, 1,048,576 WGs, "
                                : "fused: 256 GPUs, 256 kernels, 4,194,304 WGs, "),
            std::string::npos)
      << all;
  EXPECT_NE(all.find(" % of WGs, "), std::string::npos) << all;
  EXPECT_EQ(told("timeout 3 " + run + " --quiet"), "");
}

TEST_F(RunCommand, a_mode_that_the_workload_does_not_have_is_refused_with_those_it_has) {
  const std::string peers = std::string(WEFT_SOURCE_DIR) + "/configs/scenarios/peers_ring_128.yaml";
  expect_refused(peers + " --mode fused -o results", "has no mode fused; it has bulk");
}

TEST_F(RunCommand, too_much_memory_is_refused_before_it_is_taken) {
  const std::string large = kScenario + " --set workload.batch=1048576";
  expect_refused(large + " --set 'run.max_memory=1 MiB' -o results", "only 1 MiB is allowed");
  expect_refused(large + " --set 'run.max_memory=1 MiB' --stop-after tasks",
                 "only 1 MiB is allowed");
  const Ended ended = weft("run " + kScenario + " --set 'run.max_memory=1 MiB'");
  EXPECT_NE(ended.err.find("run.max_memory: mode fused is estimated to need "), std::string::npos);
  EXPECT_NE(ended.err.find("--set 'run.max_memory="), std::string::npos) << ended.err;
}

TEST_F(RunCommand, a_run_that_reaches_its_limit_leaves_no_results) {
  expect_refused(kSmall + " --set 'run.max_time=30 us' -o results",
                 "run.max_time: reached 30.000 us");
}

TEST_F(RunCommand, a_folder_that_cannot_be_written_is_the_machines_fault) {
  std::ofstream(folder_ / "file") << "not a folder";
  const Ended ended = weft("run " + kSmall + " -o file/below");
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("cannot write file/below: Not a directory"), std::string::npos)
      << ended.err;
}

TEST_F(RunCommand, a_full_disk_behind_stdout_is_no_success) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  EXPECT_EQ(shell("'" WEFT_BINARY "' run " + kSmall + " --json >/dev/full 2>err.txt").status, 2);
}

TEST_F(RunCommand, a_scenario_elsewhere_finds_the_configs_that_came_with_weft) {
  std::ofstream(folder_ / "mine.yaml") << "base: scenarios/embedding_a2a_4_gpus\n"
                                          "name: mine\n"
                                          "workload:\n  batch: 256\n  tables_per_gpu: 4\n";
  const Json mine = Json::parse(weft("run mine.yaml --json").out);
  EXPECT_EQ(mine["scenario"], "mine");
}

TEST_F(RunCommand, help_and_version) {
  EXPECT_EQ(weft("--version").out.find("weft "), 0U);
  const Ended help = weft("run --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("--stop-after"), std::string::npos);
  EXPECT_NE(help.out.find("example"), std::string::npos);
  EXPECT_EQ(weft("--help").status, 0);
}

}  // namespace
}  // namespace weft::run_command_test
