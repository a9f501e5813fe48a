// Where outputs go, whatever the command: not over inputs, not over one another, through devices;
// and what is said where the machine does not let them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::outputs_test {
namespace {

namespace fs = std::filesystem;

const std::string kSource = WEFT_SOURCE_DIR;
const std::string kScenario = kSource + "/configs/scenarios/embedding_a2a_4_gpus.yaml";
const std::string kFew = " --mode bulk --set workload.batch=256 --set workload.tables_per_gpu=4";
const std::string kRun = "run " + kScenario + kFew + " -q";
const std::string kNode = kSource + "/configs/clusters/node_4x_h200.yaml";
const std::string kGpu = kSource + "/configs/gpus/h200.yaml";

class Outputs : public InOwnFolder {
 protected:
  void SetUp() override {
    // JSON is YAML, and a sweep may be called anything.
    put("my.json", "{\"base\": \"scenarios/embedding_a2a_4_gpus\", \"modes\": [\"bulk\"]}\n");
    put("d/sweep.json",
        "{name: s, scenario: scenarios/embedding_a2a_4_gpus, "
        "axes: [{key: run.seed, values: [1]}]}\n");
    put("model.yaml", "base: scenarios/models/mixtral_decode\n");
    put("twice.yaml", R"(name: twice
arrays: [{name: y, size: 64 KiB}]
kernels: [{name: k, rows: 64, wgs_per_cu: 1,
           accesses: [{op: store, array: y, row: 1 KiB, per_row: 1 KiB}]}]
)");
    std::ifstream lines(kSource + "/calibration/measurements/h200-x4-reference.jsonl");
    std::string line;
    std::string few;
    for (int i = 0; i < 5 && std::getline(lines, line); ++i) few += line + "\n";
    put("m.jsonl", few);
  }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::string text(const std::string& name) const { return text_of(folder_ / name); }
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
  [[nodiscard]] bool is(const std::string& name, mode_t kind) const {
    struct stat info {};
    return lstat((folder_ / name).c_str(), &info) == 0 && (info.st_mode & S_IFMT) == kind;
  }
};

TEST_F(Outputs, over_an_input_are_refused_and_leave_it_as_it_was) {
  ASSERT_EQ(weft(kRun + " -o r").status, 0);
  ASSERT_EQ(weft("sweep d/sweep.json -q -o s").status, 0);
  fs::copy_file(kGpu, folder_ / "own.yaml");
  struct Given {
    std::string command;
    std::string input;
  };
  for (const auto& [command, input] :
       {Given{"run my.json -q --trace my.json", "my.json"},
        Given{"sweep d/sweep.json -o d", "d/sweep.json"},
        Given{"validate m.jsonl --cluster " + kNode + " --csv m.jsonl", "m.jsonl"},
        Given{"validate m.jsonl --cluster " + kNode + " --json ./m.jsonl", "m.jsonl"},
        Given{"calibrate m.jsonl --base own.yaml -o own.yaml", "own.yaml"},
        Given{"cache twice.yaml --machine apu_64cu -q --csv twice.yaml", "twice.yaml"},
        Given{"report r -o r/summary.json", "r/summary.json"},
        Given{"report s -o s/results.jsonl", "s/results.jsonl"},
        Given{"merge s -o s", "s/results.jsonl"}}) {
    const std::string before = text(input);
    const Ended ended = weft(command);
    EXPECT_EQ(ended.status, 1) << command << "\n" << ended.err;
    EXPECT_TRUE(ended.says("would overwrite it, but it is an input")) << command << "\n"
                                                                      << ended.err;
    EXPECT_EQ(text(input), before) << command;
  }
}

TEST_F(Outputs, over_one_another_are_refused_before_anything_is_simulated) {
  for (const std::string& command :
       std::vector<std::string>{kRun + " -o x --trace x/summary.json",
                                "cache twice.yaml --machine apu_64cu --csv x --json x",
                                "cache twice.yaml --machine apu_64cu --csv x/cache.csv -o x",
                                "validate m.jsonl --cluster " + kNode + " --csv x --json x",
                                "calibrate m.jsonl --base " + kGpu + " -o x.yaml --cluster " +
                                    kNode + " --cluster-output x.yaml"}) {
    const Ended ended = weft(command);
    EXPECT_EQ(ended.status, 1) << command;
    EXPECT_TRUE(ended.says("would both write it")) << command << "\n" << ended.err;
    EXPECT_FALSE(fs::exists(folder_ / "x") || fs::exists(folder_ / "x.yaml")) << command;
  }
}

TEST_F(Outputs, without_a_name_are_refused) {
  for (const std::string& command : std::vector<std::string>{
           kRun + " -o ''", std::string("run ''"), std::string("report ''"),
           std::string("export model.yaml --chakra ''"), std::string("sweep d/sweep.json -o ''"),
           std::string("merge d -o ''"), std::string("import chakra '' --gpus 2"),
           "validate m.jsonl --csv '' --cluster " + kNode}) {
    const Ended ended = weft(command);
    EXPECT_EQ(ended.status, 1) << command;
    EXPECT_TRUE(ended.says("the path is empty")) << command << "\n" << ended.err;
  }
  for (const char* folder : {"x/", ".", "x/.."}) {
    const Ended ended = weft(std::string("export model.yaml --chakra ") + folder);
    EXPECT_EQ(ended.status, 1) << folder;
    EXPECT_TRUE(ended.says("is a folder")) << ended.err;
  }
}

// Nodes of the test's own: those in /dev are the machine's.
TEST_F(Outputs, go_through_devices_pipes_and_links) {
  if (mknod((folder_ / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "only root makes device nodes";
  }
  ASSERT_EQ(mknod((folder_ / "full").c_str(), S_IFCHR | 0666, makedev(1, 7)), 0);
  ASSERT_EQ(weft(kRun + " -o r").status, 0);
  ASSERT_EQ(weft("export model.yaml --set cluster.nodes=1 --chakra t").status, 0);
  fs::create_symlink("null", folder_ / "null.json");
  const std::string cache = "cache twice.yaml --machine apu_64cu -q";
  for (const std::string& command : std::vector<std::string>{
           cache + " --json null --csv null", "report r -o null", kRun + " --trace null.json",
           "validate m.jsonl -q --json null --csv null --cluster " + kNode}) {
    const Ended ended = weft(command);
    EXPECT_EQ(ended.status, 0) << command << "\n" << ended.err;
    EXPECT_TRUE(is("null", S_IFCHR)) << command;
    EXPECT_TRUE(is("null.json", S_IFLNK)) << command;
  }
  const Ended full = weft(cache + " --csv kept.csv --json full");
  EXPECT_EQ(full.status, 2);
  EXPECT_TRUE(full.says("cannot write full: No space left on device")) << full.err;
  EXPECT_TRUE(is("full", S_IFCHR));
  EXPECT_FALSE(fs::exists(folder_ / "kept.csv")) << "all or none";
  EXPECT_EQ(shell_in(folder_, "mkfifo pipe; timeout 60 cat pipe >got.txt & '" WEFT_BINARY "' " +
                                  cache + " --json pipe >out.txt 2>err.txt; wait")
                .status,
            0);
  EXPECT_TRUE(is("pipe", S_IFIFO));
  EXPECT_NE(text("got.txt").find("\"runs\""), std::string::npos);
  // A link into /proc, where nothing can be replaced; /dev/stdout is one too.
  EXPECT_NE(weft(cache + " --json /dev/fd/1").out.find("\"runs\""), std::string::npos);
}

TEST_F(Outputs, that_reach_a_limit_or_a_full_disk_say_so) {
  const Ended large = shell_in(
      folder_, "(ulimit -f 1; exec '" WEFT_BINARY "' " + kRun + " -o r) >out.txt 2>err.txt");
  EXPECT_EQ(large.status, 2);
  EXPECT_TRUE(large.says("cannot write r/")) << large.err;
  EXPECT_TRUE(large.says("File too large")) << large.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "r"));
  if (!fs::exists("/dev/full")) return;
  for (const char* command : {"--version", "--help", "run --help", "list gpus", "man"}) {
    const Ended full =
        shell_in(folder_, std::string("'" WEFT_BINARY "' ") + command + " >/dev/full 2>err.txt");
    EXPECT_EQ(full.status, 2) << command;
  }
}

// What is not allowed is not called missing. Root may do everything: then as nobody.
TEST_F(Outputs, and_inputs_that_are_not_allowed_are_told_as_that) {
  ASSERT_EQ(weft(kRun + " -o closed/r").status, 0);
  ASSERT_EQ(weft(kRun + " -o r").status, 0);
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(folder_ / "r/links.csv", fs::perms::none);
  fs::permissions(folder_ / "closed", fs::perms::none);
  const std::string nobody = geteuid() == 0 ? "setpriv --reuid 65534 --clear-groups" : "";
  if (weft_in(folder_, "--version", nobody).status != 0) {
    GTEST_SKIP() << "nobody may not start weft where it was built";
  }
  for (const std::string& command : std::vector<std::string>{
           std::string("report closed/r"), std::string("report r -o x.html"),
           std::string("run closed/a.yaml"), std::string("import chakra closed/t --gpus 2"),
           std::string("merge closed/s -o m"), std::string("sweep d/sweep.json -o closed/s"),
           kRun + " -o closed/x", "validate closed/m.jsonl --cluster " + kNode}) {
    const Ended ended = weft_in(folder_, command, nobody);
    EXPECT_TRUE(ended.status == 1 || ended.status == 2) << command;
    EXPECT_TRUE(ended.says("Permission denied")) << command << "\n" << ended.err;
  }
  fs::permissions(folder_ / "closed", fs::perms::owner_all);
}

TEST_F(Outputs, of_a_quiet_sweep_on_more_threads_than_cores_are_silent) {
  const Ended ended = weft("sweep d/sweep.json -q -j 64 --set workload.batch=256 -o s");
  EXPECT_EQ(ended.status, 0);
  EXPECT_FALSE(ended.says("TBB")) << ended.err;
  EXPECT_FALSE(weft("validate m.jsonl -q -j 64 --cluster " + kNode).says("TBB"));
}

TEST_F(Outputs, a_negative_seed_is_told_as_the_user_wrote_it) {
  const Ended ended = weft(kRun + " --seed -1");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("'-1' is negative")) << ended.err;
}

TEST_F(Outputs, with_a_number_that_no_double_holds_are_told_with_file_and_line) {
  ASSERT_EQ(weft(kRun + " -o r").status, 0);
  fs::remove(folder_ / "r/files.json");
  std::string summary = text("r/summary.json");
  const std::size_t at = summary.find("\"time_us\": ") + 11;
  summary.replace(at, summary.find(',', at) - at, "1e999");
  const auto lines =
      std::count(summary.begin(), summary.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t column = at - summary.rfind('\n', at);
  put("r/summary.json", summary);
  const Ended ended = weft("report r");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("r/summary.json:" + std::to_string(lines + 1) + ":" +
                         std::to_string(column) +
                         ": error: not JSON: the number 1e999 is too large"))
      << ended.err;
}

// Also of a file that no chart is drawn from.
TEST_F(Outputs, of_which_any_has_a_changed_byte_are_told) {
  ASSERT_EQ(weft(kRun + " -o r").status, 0);
  const nlohmann::json listed = nlohmann::json::parse(text("r/files.json"))["files"];
  EXPECT_GE(listed.size(), 5U);
  for (const auto& [name, hash] : listed.items()) {
    const std::string whole = text("r/" + name);
    std::string damaged = whole;
    damaged[damaged.size() / 2] ^= 1;
    put("r/" + name, damaged);
    const Ended ended = weft("report r -o x.html");
    EXPECT_EQ(ended.status, 1) << name;
    EXPECT_TRUE(ended.says("r/" + name + ": error: does not match files.json")) << ended.err;
    put("r/" + name, whole);
  }
  EXPECT_EQ(weft("report r -o x.html").status, 0);
}

TEST_F(Outputs, of_a_run_and_a_sweep_in_one_folder_are_not_guessed_at) {
  ASSERT_EQ(weft("sweep d/sweep.json -q --set workload.batch=256 -o s").status, 0);
  ASSERT_EQ(weft(kRun + " -o s").status, 0);
  const Ended ended = weft("report s -o x.html");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(
      ended.says("s: error: holds a sweep's results (sweep.json) and a run's (summary.json)"))
      << ended.err;
}

TEST_F(Outputs, to_a_full_disk_name_it) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const char* command : {"schema", "man", "explain", "completion bash", "list"}) {
    const Ended ended =
        shell_in(folder_, std::string("'" WEFT_BINARY "' ") + command + " >/dev/full 2>err.txt");
    EXPECT_EQ(ended.status, 2) << command;
    EXPECT_TRUE(ended.says("cannot write to standard output: No space left on device"))
        << ended.err;
  }
}

TEST_F(Outputs, of_a_sweep_with_a_changed_byte_are_made_again) {
  const std::string sweep = "sweep d/sweep.json --set workload.batch=256 -o s";
  ASSERT_EQ(weft(sweep).status, 0);
  const std::string table = text("s/results.csv");
  std::string rows = text("s/results.jsonl");
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"speedup\"", "\"speedop\""}, {"0.", "1."}}) {
    std::string damaged = rows;
    damaged.replace(damaged.find(from), from.size(), to);
    put("s/results.jsonl", damaged);
    fs::remove(folder_ / "s/results.csv");
    const Ended report = weft("report s -o x.html");
    EXPECT_TRUE(report.says("s/results.jsonl:1: damaged")) << report.err;
    EXPECT_NE(weft("merge s -o merged").status, 0);
    const Ended again = weft(sweep);
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_TRUE(again.says("s/results.jsonl:1: damaged")) << again.err;
    EXPECT_EQ(text("s/results.csv"), table);
    rows = text("s/results.jsonl");
  }
}

}  // namespace
}  // namespace weft::outputs_test
