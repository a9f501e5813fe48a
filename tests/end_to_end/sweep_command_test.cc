// `weft sweep` and `weft merge` as a user meets them: what they write, and what they keep when they
// are killed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::sweep_command_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Two nodes of one GPU; some milliseconds a point.
constexpr const char* kSmall =
    "name: small\n"
    "scenario: scenarios/embedding_a2a_2_nodes.yaml\n"
    "set: {modes: [bulk, fused], workload.tables_per_gpu: 4}\n"
    "axes:\n"
    "  - key: cluster.scale_out.link.bandwidth\n"
    "    values: [100 Gb/s, 200 Gb/s, 400 Gb/s]\n"
    "  - {key: workload.batch, from: 128, to: 512, powers_of_two: true}\n";

// The same with points that take long enough for a signal to come in between.
std::string slow() {
  std::string text = kSmall;
  const std::string few = "workload.tables_per_gpu: 4";
  text.replace(text.find(few), few.size(), "workload.tables_per_gpu: 24");
  const std::string small = "from: 128, to: 512";
  return text.replace(text.find(small), small.size(), "from: 512, to: 2048");
}

class SweepCommand : public InOwnFolder {
 protected:
  void SetUp() override { put(kSmall); }

  void put(const std::string& text) const { std::ofstream(folder_ / "small.yaml") << text; }

  // In the test's own folder.
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
  [[nodiscard]] fs::path in(const std::string& name) const { return folder_ / name; }

  // A sweep that goes on while the test does.
  [[nodiscard]] pid_t start(const std::string& output) const {
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(folder_.c_str()) != 0) _exit(99);
    const std::string errors = in("err.txt").string();
    if (std::freopen(errors.c_str(), "w", stderr) == nullptr) _exit(97);
    execl(WEFT_BINARY, "weft", "sweep", "small.yaml", "-j", "1", "-q", "-o", output.c_str(),
          nullptr);
    _exit(98);
  }
  template <class Condition>
  static void wait_until(const Condition& come) {
    using namespace std::chrono_literals;
    for (int waits = 0; waits < 60'000 && !come(); ++waits) std::this_thread::sleep_for(1ms);
  }
  static int status_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Ends it with a signal while a point runs and so many others are finished; its exit status.
  [[nodiscard]] int end_when(std::size_t finished, int signal, const std::string& output) const {
    const pid_t child = start(output);
    wait_until([&] { return lines_of(in(output) / "started.txt").size() > finished; });
    kill(child, signal);
    return status_of(child);
  }
};

TEST_F(SweepCommand, writes_a_row_for_every_point_in_their_order) {
  const Ended ended = weft("sweep small.yaml -j 2");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("9 points: 9 ok, 0 failed; results are in results/small"),
            std::string::npos)
      << ended.err;
  const std::vector<std::string> csv = lines_of(in("results/small/results.csv"));
  ASSERT_EQ(csv.size(), 10U);
  EXPECT_EQ(
      csv[0].find("bandwidth_gbps,batch,point,status,error,bulk_time_us,bulk_exposed_comm_us"), 0U)
      << csv[0];
  EXPECT_EQ(csv[0].find("wall"), std::string::npos);
  EXPECT_TRUE(csv[0].ends_with(",fused_vs_bulk_speedup")) << csv[0];
  EXPECT_EQ(csv[1].find("100,128,"), 0U) << csv[1];
  EXPECT_EQ(csv[2].find("100,256,"), 0U) << csv[2];
  EXPECT_EQ(csv[9].find("400,512,"), 0U) << csv[9];

  const std::vector<std::string> lines = lines_of(in("results/small/results.jsonl"));
  ASSERT_EQ(lines.size(), 9U);
  const Json last = Json::parse(lines[8]);
  EXPECT_EQ(last["row"], 8);
  EXPECT_EQ(last["axes"], (Json{{"bandwidth_gbps", 400}, {"batch", 512}}));
  EXPECT_EQ(last["point"], last["summary"]["scenario_hash"]);
  EXPECT_GT(last["summary"]["modes"]["fused"]["time_us"], 1.0);

  const Json sweep = Json::parse(text_of(in("results/small/sweep.json")));
  EXPECT_EQ(sweep["name"], "small");
  EXPECT_EQ(sweep["points"], 9);
  EXPECT_EQ(sweep["axes"][0]["key"], "cluster.scale_out.link.bandwidth");
  EXPECT_EQ(sweep["axes"][0]["column"], "bandwidth_gbps");
  EXPECT_FALSE(fs::exists(in("results/small/started.txt")));
}

// By point and column, of what is not empty.
using Values = std::map<std::pair<std::string, std::string>, std::string>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line + ",");
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

Values wide_values(const std::vector<std::string>& lines) {
  const std::vector<std::string> header = cells_of(lines.front());
  const auto point = std::find(header.begin(), header.end(), "point") - header.begin();
  Values values;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const std::vector<std::string> cells = cells_of(lines[row]);
    for (auto i = static_cast<std::size_t>(point) + 3; i < cells.size(); ++i) {
      const std::string& id = cells[static_cast<std::size_t>(point)];
      if (!cells[i].empty()) values[{id, header[i]}] = cells[i];
    }
  }
  return values;
}

// fused, speedup_vs_bulk: fused_vs_bulk_speedup.
Values long_values(const std::vector<std::string>& lines) {
  Values values;
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const std::vector<std::string> cells = cells_of(lines[row]);
    std::string column = cells[1] + "_" + cells[2];
    if (cells[2] == "speedup_vs_bulk") column = cells[1] + "_vs_bulk_speedup";
    values[{cells[0], column}] = cells[3];
  }
  return values;
}

TEST_F(SweepCommand, writes_the_same_values_as_a_long_table) {
  ASSERT_EQ(weft("sweep small.yaml -q -o out").status, 0);
  const std::vector<std::string> tidy = lines_of(in("out/results_long.csv"));
  EXPECT_EQ(tidy.front(), "point,mode,field,value,unit");
  const Values values = long_values(tidy);
  EXPECT_EQ(values.size() + 1, tidy.size()) << "a value is there twice";
  EXPECT_EQ(values, wide_values(lines_of(in("out/results.csv"))));
  EXPECT_GT(values.size(), 9U * 2 * 15);

  const Json catalogue = Json::parse(text_of(in("out/catalogue.json")));
  EXPECT_EQ(Json::parse(weft("schema results").out), catalogue);
  for (std::size_t row = 1; row < tidy.size(); ++row) {
    const std::vector<std::string> cells = cells_of(tidy[row]);
    EXPECT_EQ(catalogue["fields"][cells[2]]["unit"], cells[4]) << tidy[row];
    EXPECT_TRUE(catalogue["modes"].contains(cells[1])) << tidy[row];
  }
}

TEST_F(SweepCommand, lists_its_tables_in_a_manifest_that_a_report_checks) {
  ASSERT_EQ(weft("sweep small.yaml -q -o out").status, 0);
  const Json files = Json::parse(text_of(in("out/files.json")))["files"];
  std::set<std::string> names;
  for (const auto& [name, hash] : files.items()) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"catalogue.json", "results.csv", "results_long.csv"}));
  fs::remove(in("out/results.jsonl"));  // from which it would be made again
  EXPECT_EQ(weft("report out -o page.html").status, 0);
  std::ofstream(in("out/results.csv"), std::ios::app) << "\n";
  const Ended refused = weft("report out -o other.html");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("does not match files.json"), std::string::npos) << refused.err;
}

TEST_F(SweepCommand, a_row_is_what_weft_run_gives) {
  ASSERT_EQ(weft("sweep small.yaml -q").status, 0);
  const Json row = Json::parse(lines_of(in("results/small/results.jsonl"))[4]);
  const std::string command = row["command"];
  ASSERT_EQ(command.find("weft run "), 0U) << command;
  const Ended ended = weft(command.substr(5) + " --json");
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out)["modes"], row["summary"]["modes"]);
}

TEST_F(SweepCommand, gives_the_same_bytes_for_any_number_of_jobs) {
  ASSERT_EQ(weft("sweep small.yaml -q -j 1 -o one").status, 0);
  ASSERT_EQ(weft("sweep small.yaml -q -j 3 -o three").status, 0);
  EXPECT_EQ(text_of(in("one/results.csv")), text_of(in("three/results.csv")));
  EXPECT_EQ(text_of(in("one/results_long.csv")), text_of(in("three/results_long.csv")));
  EXPECT_GT(text_of(in("one/results.csv")).size(), 1'000U);
}

TEST_F(SweepCommand, goes_on_after_a_kill_and_loses_nothing) {
  put(slow());
  ASSERT_EQ(weft("sweep small.yaml -q -o whole").status, 0);
  EXPECT_EQ(end_when(3, SIGKILL, "killed"), -1);
  const std::vector<std::string> before = lines_of(in("killed/results.jsonl"));
  ASSERT_GE(before.size(), 3U);
  ASSERT_LT(before.size(), 9U) << "it was to be killed half-way";
  std::set<std::string> before_tables;
  for (const auto& entry : fs::directory_iterator(in("killed"))) {
    before_tables.insert(entry.path().filename());
  }
  const Ended ended = weft("sweep small.yaml -j 2 -o killed");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("of 9 points were already finished"), std::string::npos) << ended.err;
  for (const char* table : {"results.csv", "results_long.csv", "catalogue.json", "files.json"}) {
    EXPECT_FALSE(before_tables.contains(table)) << "of a sweep that has not ended";
    EXPECT_EQ(text_of(in("killed") / table), text_of(in("whole") / table)) << table;
  }
  // Not run again: even their wall-clock times are still there.
  const std::string after = text_of(in("killed/results.jsonl"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(after.find(before[i]), std::string::npos) << i;
}

TEST_F(SweepCommand, a_half_written_line_is_said_and_run_again) {
  ASSERT_EQ(weft("sweep small.yaml -q -o cut").status, 0);
  const std::string whole = text_of(in("cut/results.csv"));
  fs::resize_file(in("cut/results.jsonl"), fs::file_size(in("cut/results.jsonl")) - 100);
  const Ended ended = weft("sweep small.yaml -o cut");
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.err.find("cut/results.jsonl:9: damaged or incomplete"), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("8 of 9 points were already finished"), std::string::npos) << ended.err;
  EXPECT_EQ(text_of(in("cut/results.csv")), whole);
}

TEST_F(SweepCommand, ctrl_c_leaves_what_is_finished_as_a_table) {
  put(slow());
  EXPECT_EQ(end_when(2, SIGINT, "stopped"), 130);
  const std::size_t rows = lines_of(in("stopped/results.csv")).size();
  EXPECT_GE(rows, 3U);
  EXPECT_EQ(rows, lines_of(in("stopped/results.jsonl")).size() + 1);
  EXPECT_EQ(weft("sweep small.yaml -q -o stopped").status, 0);
  EXPECT_EQ(lines_of(in("stopped/results.csv")).size(), 10U);
}

TEST_F(SweepCommand, a_point_that_ends_weft_twice_is_run_in_a_process_of_its_own) {
  put(slow());
  EXPECT_EQ(end_when(2, SIGKILL, "results/small"), -1);
  const std::vector<std::string> points = lines_of(in("results/small/started.txt"));
  ASSERT_FALSE(points.empty());
  std::ofstream(in("results/small/started.txt"), std::ios::app) << points.back() << "\n";
  const Ended ended = weft("sweep small.yaml");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("in a process of its own"), std::string::npos) << ended.err;
  ASSERT_EQ(weft("sweep small.yaml -q -o whole").status, 0);
  EXPECT_EQ(text_of(in("results/small/results.csv")), text_of(in("whole/results.csv")));
}

TEST_F(SweepCommand, a_point_that_ends_its_own_process_is_a_failed_row) {
  put(slow());
  EXPECT_EQ(end_when(1, SIGKILL, "crash"), -1);
  const std::vector<std::string> points = lines_of(in("crash/started.txt"));
  ASSERT_FALSE(points.empty());
  std::ofstream(in("crash/started.txt"), std::ios::app) << points.back() << "\n";
  const pid_t weft_sweep = start("crash");
  const std::string children =
      "/proc/" + std::to_string(weft_sweep) + "/task/" + std::to_string(weft_sweep) + "/children";
  pid_t alone = 0;
  wait_until([&] { return static_cast<bool>(std::ifstream(children) >> alone); });
  ASSERT_GT(alone, 0);
  kill(alone, SIGABRT);  // sanitizers make an exit of SIGSEGV
  EXPECT_EQ(status_of(weft_sweep), 3);
  const std::string csv = text_of(in("crash/results.csv"));
  EXPECT_NE(csv.find(points.back() + ",failed,weft crashed with signal 6 (Aborted"),
            std::string::npos)
      << csv.substr(0, 4'000);
  EXPECT_EQ(lines_of(in("crash/results.csv")).size(), 10U) << "the others were run";
}

TEST_F(SweepCommand, points_that_fail_are_rows_with_their_error) {
  put("name: failing\n"
      "scenario: scenarios/embedding_a2a_2_nodes.yaml\n"
      "set: {modes: [fused], workload.tables_per_gpu: 4}\n"
      "axes:\n"
      "  - {key: workload.batch, values: [256, 301]}\n"
      "  - {key: run.max_time, values: [1 ns, 1 s]}\n");
  const Ended dry = weft("sweep small.yaml --dry-run");
  EXPECT_EQ(dry.status, 1);
  EXPECT_NE(dry.err.find("small.yaml:5:41: error: workload.batch: 301 samples"), std::string::npos)
      << dry.err;
  EXPECT_NE(dry.out.find("4 points, 4 different scenarios, 2 do not run"), std::string::npos)
      << dry.out;

  const Ended ended = weft("sweep small.yaml -o failing");
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.err.find("4 points: 1 ok, 3 failed"), std::string::npos) << ended.err;
  const std::vector<std::string> csv = lines_of(in("failing/results.csv"));
  ASSERT_EQ(csv.size(), 5U);
  EXPECT_NE(csv[1].find(",failed,"), std::string::npos) << csv[1];
  EXPECT_NE(csv[1].find("run.max_time: reached 0.001 us"), std::string::npos) << csv[1];
  EXPECT_NE(csv[2].find(",ok,"), std::string::npos) << csv[2];
  EXPECT_NE(csv[3].find("workload.batch: 301 samples"), std::string::npos) << csv[3];

  // Known by now, and so is the exit code; asked to, it tries again.
  const Ended again = weft("sweep small.yaml -o failing");
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.err.find("2 of 4 points were already finished"), std::string::npos) << again.err;
  const Ended retried = weft("sweep small.yaml --retry -o failing");
  EXPECT_NE(retried.err.find("1 of 4 points were already finished"), std::string::npos)
      << retried.err;
}

TEST_F(SweepCommand, equal_scenarios_are_run_once) {
  put("name: twice\n"
      "scenario: scenarios/embedding_a2a_2_nodes.yaml\n"
      "set: {modes: [fused], workload.tables_per_gpu: 4, workload.batch: 256}\n"
      "axes: [{key: cluster.scale_out.link.bandwidth, values: [200 Gb/s, 25 GB/s]}]\n");
  const Ended dry = weft("sweep small.yaml --dry-run");
  EXPECT_NE(dry.out.find("2 points, 1 different scenario"), std::string::npos) << dry.out;
  ASSERT_EQ(weft("sweep small.yaml -q -o twice").status, 0);
  const std::vector<std::string> lines = lines_of(in("twice/results.jsonl"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(Json::parse(lines[0])["summary"], Json::parse(lines[1])["summary"])
      << "even the wall-clock time is the same";
}

TEST_F(SweepCommand, shards_merge_to_the_same_bytes) {
  ASSERT_EQ(weft("sweep small.yaml -q -o whole").status, 0);
  for (const char* shard : {"1", "2"}) {
    ASSERT_EQ(weft(std::string("sweep small.yaml -q --shard ") + shard + "/2").status, 0);
  }
  EXPECT_EQ(lines_of(in("results/small/shard_1_of_2/results.csv")).size(), 6U);
  EXPECT_EQ(lines_of(in("results/small/shard_2_of_2/results.csv")).size(), 5U);
  const Ended merged = weft("merge results/small/shard_1_of_2 results/small/shard_2_of_2 -o both");
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(text_of(in("both/results.csv")), text_of(in("whole/results.csv")));
  EXPECT_EQ(text_of(in("both/results_long.csv")), text_of(in("whole/results_long.csv")));
  EXPECT_EQ(text_of(in("both/files.json")), text_of(in("whole/files.json")));
  EXPECT_EQ(text_of(in("both/sweep.json")), text_of(in("whole/sweep.json")));
  const Ended half = weft("merge results/small/shard_2_of_2 -o half");
  EXPECT_EQ(half.status, 1);
  EXPECT_NE(half.err.find("5 of 9 points are missing"), std::string::npos) << half.err;
}

TEST_F(SweepCommand, dry_run_writes_nothing) {
  const Ended ended = weft("sweep small.yaml --dry-run --set workload.pooling=10");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("9 points, 9 different scenarios\n"), std::string::npos) << ended.out;
  EXPECT_FALSE(fs::exists(in("results")));
}

TEST_F(SweepCommand, mistakes_are_refused) {
  for (const auto& [arguments, words] : std::vector<std::pair<std::string, std::string>>{
           {"sweep", "FILE is required"},
           {"sweep nowhere.yaml", "nowhere.yaml: no such file"},
           {"sweep small.yaml --shard 0/2", "'0/2' is not like 2/4"},
           {"sweep small.yaml --shard 3/2", "'3/2' is not like 2/4"},
           {"sweep small.yaml --shard 1/10", "10 shards, but only 9 points"},
           {"sweep small.yaml -j 0", "0"},
           {"sweep small.yaml --set workload.batch=1", "an axis changes workload.batch"},
           {"merge nowhere -o out", "not the folder of a sweep"}}) {
    const Ended ended = weft(arguments);
    EXPECT_EQ(ended.status, 1) << arguments;
    EXPECT_NE(ended.err.find(words), std::string::npos) << arguments << "\n" << ended.err;
  }
  EXPECT_FALSE(fs::exists(in("results")));
}

// 40,000 points, so that planning takes a while.
constexpr const char* kMany =
    "name: small\n"
    "scenario: scenarios/embedding_a2a_2_nodes.yaml\n"
    "axes:\n"
    "  - {key: cluster.scale_out.link.latency, from: 100 ns, to: 20.05 us, step: 50 ns}\n"
    "  - {key: workload.batch, from: 256, to: 25600, step: 256}\n";

TEST_F(SweepCommand, has_its_folder_before_its_points_are_planned) {
  put(kMany);
  const pid_t child = start("out");
  wait_until([&] { return fs::exists(in("out/sweep.json")); });
  EXPECT_FALSE(fs::exists(in("out/results.jsonl")));  // written when all are planned
  kill(child, SIGINT);
  EXPECT_EQ(status_of(child), 130);
  EXPECT_NE(text_of(in("err.txt")).find("stopped while the points were being planned"),
            std::string::npos);
}

// Of 1,024 nodes in all: nothing of them is built to plan them. 1.2 GB once.
TEST_F(SweepCommand, plans_large_models_in_little_memory) {
  const Ended ended =
      shell_in(folder_, std::string(kSanitized ? "(" : "(ulimit -v 1000000; ") +
                            "'" WEFT_BINARY "' sweep '" WEFT_SOURCE_DIR
                            "/configs/sweeps/scaling_mixtral_weak.yaml' --dry-run -j 1)"
                            " >out.txt 2>err.txt");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("5 points, 5 different scenarios"), std::string::npos) << ended.out;
}

TEST_F(SweepCommand, labels_are_names_and_never_commands_or_formulas) {
  std::string text = kSmall;
  const std::string values = "values: [100 Gb/s, 200 Gb/s, 400 Gb/s]\n";
  text.insert(text.find(values) + values.size(),
              "    labels: [\"a\\e[31m\", \"b\\x9b31m\\u202e\", \"=1+1\"]\n");
  put(text);
  const Ended ended = weft("sweep small.yaml --dry-run");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(ended.err.find("\xc2\x9b"), std::string::npos);
  EXPECT_TRUE(
      ended.says("axes[0].labels: must be 1 to 100 characters on one line, all of them visible"));
  EXPECT_TRUE(ended.says("must not begin with = + - or @"));
}

TEST_F(SweepCommand, runs_only_the_points_that_are_asked_for) {
  ASSERT_EQ(weft("sweep small.yaml -q -o all").status, 0);
  ASSERT_EQ(weft("sweep small.yaml -q -o some --only 2,9").status, 0);
  const std::vector<std::string> all = lines_of(in("all/results.csv"));
  EXPECT_EQ(lines_of(in("some/results.csv")), (std::vector{all[0], all[2], all[9]}));
  const Ended ended = weft("sweep small.yaml -q -o none --only 10");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("--only 10: there are 9 points")) << ended.err;
}

TEST_F(SweepCommand, only_takes_the_numbers_that_dry_run_prints_each_once) {
  const Ended dry = weft("sweep small.yaml --dry-run --only 9,2,9");
  EXPECT_EQ(dry.status, 0) << dry.err;
  EXPECT_EQ(dry.out.find('#'), 0U) << dry.out;
  EXPECT_NE(dry.out.find("\n9 "), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("\n2 "), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("2 points, 2 different scenarios"), std::string::npos) << dry.out;
}

}  // namespace
}  // namespace weft::sweep_command_test
