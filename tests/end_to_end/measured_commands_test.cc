// `weft validate` and `weft calibrate` as a user meets them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/end_to_end/own_folder.h"
#include "tests/end_to_end/program.h"

namespace weft::measured_commands_test {
namespace {

namespace fs = std::filesystem;

const std::string kConfigs = std::string(WEFT_SOURCE_DIR) + "/configs";
const std::string kCluster = " --cluster " + kConfigs + "/clusters/node_4x_h200.yaml";
const std::string kBase = " --base " + kConfigs + "/gpus/h200.yaml";

// Two cases that take a few milliseconds to simulate, one kind that nothing stands for.
constexpr const char* kMeasured = R"({"kind": "meta", "device": "NVIDIA H200"}
{"kind": "micro.nccl_allreduce", "gpus": 4, "bytes_per_gpu": 4096, "us": 12.5}
{"kind": "micro.nccl_alltoall", "gpus": 4, "bytes_per_gpu": 4096, "us": 9.8}
{"kind": "micro.flag_one_way", "gpus": 4, "n": 1000, "us": 1.5}
)";

class MeasuredCommands : public InOwnFolder {
 protected:
  void SetUp() override { write("measured.jsonl", kMeasured); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_, arguments);
  }
  [[nodiscard]] bool wrote(const std::string& name) const { return fs::exists(folder_ / name); }
};

TEST_F(MeasuredCommands, help_names_what_there_is) {
  const Ended validate = weft("validate --help");
  EXPECT_EQ(validate.status, 0);
  for (const char* option : {"--cluster", "--kernels", "--json", "--csv", "--max-median"}) {
    EXPECT_NE(validate.out.find(option), std::string::npos) << option;
  }
  const Ended calibrate = weft("calibrate --help");
  EXPECT_EQ(calibrate.status, 0);
  for (const char* option : {"--base", "--output", "--cluster", "--cluster-output"}) {
    EXPECT_NE(calibrate.out.find(option), std::string::npos) << option;
  }
}

TEST_F(MeasuredCommands, validate_prints_a_table_and_writes_what_it_is_asked_for) {
  const Ended ended = weft("validate measured.jsonl --json all.json --csv all.csv" + kCluster);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("| micro.nccl_allreduce | bytes_per_gpu 4096, gpus 4 | 12.5 |"),
            std::string::npos)
      << ended.out;
  EXPECT_TRUE(ended.says("skipped: 1 x micro.flag_one_way")) << ended.err;
  const auto json = nlohmann::json::parse(text_of(folder_ / "all.json"));
  EXPECT_EQ(json["cases"].size(), 2U);
  EXPECT_EQ(json["error_by_kind"]["all"]["cases"], 2);
  const std::string csv = text_of(folder_ / "all.csv");
  EXPECT_TRUE(csv.starts_with("kind,case,measured_us,predicted_us,error\n")) << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
}

TEST_F(MeasuredCommands, what_was_measured_on_another_machine_is_compared_with_a_warning) {
  EXPECT_EQ(weft("validate measured.jsonl" + kCluster).err.find("warning"), std::string::npos);
  write("other.jsonl", R"({"kind": "meta", "device": "NVIDIA A100"}
{"kind": "micro.nccl_alltoall", "gpus": 8, "bytes_per_gpu": 4096, "us": 9.8}
)");
  const Ended ended = weft("validate other.jsonl" + kCluster);
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.err.find("measured on NVIDIA A100, simulated on H200"), std::string::npos);
  EXPECT_NE(ended.err.find("a line has 8 GPUs, the cluster 4"), std::string::npos) << ended.err;
}

// Words of a file of measurements reach no terminal as commands.
TEST_F(MeasuredCommands, words_with_escape_sequences_are_printed_without_them) {
  write("measured.jsonl", R"({"kind": "micro.nccl_alltoall", "gpus": 4, "bytes_per_gpu": 4096, )"
                          R"("note": "\u001b[31m", "us": 9.8})"
                          "\n");
  const Ended ended = weft("validate measured.jsonl" + kCluster);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("[31m"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos) << ended.out;
}

TEST_F(MeasuredCommands, a_bound_that_is_exceeded_is_exit_1) {
  EXPECT_EQ(weft("validate measured.jsonl -q --max-median 1000" + kCluster).status, 0);
  const Ended ended = weft("validate measured.jsonl -q --max-median 0 --max-p90 0" + kCluster);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("the overall median error is")) << ended.err;
  EXPECT_TRUE(ended.says("the overall 90th percentile error is")) << ended.err;
}

// On links of 1 MB/s nothing is within 1000 % any more.
TEST_F(MeasuredCommands, a_value_can_be_changed_in_all_cases) {
  const std::string slow = "validate measured.jsonl -q --max-median 1000 --set cluster.scale_up.";
  EXPECT_EQ(weft(slow + "link.bandwidth='1 MB/s'" + kCluster).status, 1);
  const Ended wrong = weft(slow + "link.bandwith='1 MB/s'" + kCluster);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(wrong.says("did you mean 'bandwidth'")) << wrong.err;
}

TEST_F(MeasuredCommands, the_kernels_of_the_lines_may_be_described_elsewhere) {
  fs::create_directories(folder_ / "mine");
  fs::copy(kConfigs + "/validation/collective.yaml", folder_ / "mine");
  const Ended own = weft("validate measured.jsonl --kernels mine" + kCluster);
  EXPECT_EQ(own.status, 0) << own.err;
  EXPECT_EQ(own.out, weft("validate measured.jsonl" + kCluster).out);
  fs::rename(folder_ / "mine/collective.yaml", folder_ / "mine/exchange.yaml");
  const Ended none = weft("validate measured.jsonl --kernels mine" + kCluster);
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(none.says("left out: 2 lines whose kernel file is missing, mine/collective.yaml"))
      << none.err;
  EXPECT_TRUE(none.says("contains no line whose kernel is in mine")) << none.err;
}

TEST_F(MeasuredCommands, lines_whose_kernel_is_not_described_are_counted_and_left_out) {
  fs::create_directories(folder_ / "mine");
  fs::copy(kConfigs + "/validation/collective.yaml", folder_ / "mine");
  write("more.jsonl", std::string(kMeasured) + R"({"kind": "gemm.bulk", "gpus": 4, "m": 1024, )" +
                          R"("n": 1024, "k": 1024, "us": 30})" + "\n");
  const Ended ended = weft("validate more.jsonl --kernels mine" + kCluster);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.says("left out: 1 line whose kernel file is missing, mine/gemm.yaml"))
      << ended.err;
  EXPECT_EQ(ended.out, weft("validate measured.jsonl --kernels mine" + kCluster).out);
}

TEST_F(MeasuredCommands, a_mistake_in_a_kernels_file_is_said_once) {
  fs::create_directories(folder_ / "mine");
  write("mine/collective.yaml", "base: validation/collective\nworkload: {colour: red}\n");
  const Ended ended = weft("validate measured.jsonl --kernels mine" + kCluster);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(
      ended.says("measured.jsonl:2:1: error: micro.nccl_allreduce: cannot be simulated, nor "
                 "1 more: mine/collective.yaml:2:12: error: workload.colour"))
      << ended.err;
  EXPECT_EQ(ended.err.find("workload.colour"), ended.err.rfind("workload.colour")) << ended.err;
}

TEST_F(MeasuredCommands, every_bad_line_is_named_and_nothing_is_written) {
  write("bad.jsonl", std::string(kMeasured) + "{\"kind\": \"emb.bulk\",\n{\"us\": 3}\n");
  for (const std::string& command : {"validate bad.jsonl --json out.json --csv out.csv" + kCluster,
                                     "calibrate bad.jsonl -o out.yaml" + kBase}) {
    const Ended ended = weft(command);
    EXPECT_EQ(ended.status, 1) << command;
    EXPECT_TRUE(ended.says("bad.jsonl:5")) << ended.err;
    EXPECT_TRUE(ended.says("not a JSON object")) << ended.err;
    EXPECT_TRUE(ended.says("bad.jsonl:6")) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
  for (const char* name : {"out.json", "out.csv", "out.yaml"}) EXPECT_FALSE(wrote(name)) << name;
}

TEST_F(MeasuredCommands, a_line_that_lacks_a_number_of_its_case_is_named) {
  write("lacks.jsonl", R"({"kind": "micro.nccl_alltoall", "gpus": 4, "us": 9.8})");
  const Ended ended = weft("validate lacks.jsonl" + kCluster);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("bytes_per_gpu")) << ended.err;
}

// 1.2 us of 1.5 are the two links; polling keeps the base's 0.3.
TEST_F(MeasuredCommands, calibrate_writes_files_that_run_accepts) {
  write("flag.jsonl", R"({"kind": "micro.flag_one_way", "gpus": 4, "n": 1000, "us": 1.5})");
  const Ended ended =
      weft("calibrate flag.jsonl -o gpu.yaml --cluster-output node.yaml" + kBase + kCluster);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.says("memory.bandwidth")) << "not determined: " << ended.err;
  EXPECT_TRUE(ended.says("dma.next: kept")) << ended.err;
  EXPECT_NE(text_of(folder_ / "node.yaml").find("latency: 600 ns"), std::string::npos)
      << text_of(folder_ / "node.yaml");
  write("run.yaml",
        "name: run\ncluster: {base: node}\nworkload: {kind: collective, op: all_to_all, bytes: 1 "
        "MiB}\nmodes: [bulk]\n");
  const Ended run = weft("run run.yaml");
  EXPECT_EQ(run.status, 0) << run.err;
}

// What one GPU alone can measure, put upon every shipped GPU: each file, whatever of it stands in a
// base of its own, takes all numbers with their tags, and is read again where it was written.
TEST_F(MeasuredCommands, calibrate_takes_every_shipped_gpu_as_base) {
  std::ifstream all(std::string(WEFT_SOURCE_DIR) + "/calibration/measurements/h200-x4.jsonl");
  std::string lines;
  for (std::string line; std::getline(all, line);) {
    const auto kind = nlohmann::json::parse(line)["kind"].get<std::string>();
    for (const char* own : {"micro.empty_kernel", "micro.hbm_", "micro.l2_read", "micro.wg_",
                            "micro.gemm_library", "micro.chase"}) {
      if (kind.starts_with(own)) lines += line + "\n";
    }
  }
  write("one.jsonl", lines);
  std::size_t bases = 0;
  for (const auto& entry : fs::directory_iterator(kConfigs + "/gpus")) {
    const std::string base = entry.path().stem().string();
    ++bases;
    const Ended ended =
        weft("calibrate one.jsonl -o new_" + base + ".yaml --base " + entry.path().string());
    ASSERT_EQ(ended.status, 0) << base << ": " << ended.err;
    const std::string text = text_of(folder_ / ("new_" + base + ".yaml"));
    for (const char* found : {"  latency: 40", "# [M] hbm_read, 9 lines", "# [M] chase, "}) {
      EXPECT_NE(text.find(found), std::string::npos) << base << ": " << found << "\n" << text;
    }
    write("run.yaml", "name: run\ncluster: {base: validation/node, gpu: {base: new_" + base +
                          "}}\nworkload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n");
    const Ended read = weft("run run.yaml --stop-after scenario");
    ASSERT_EQ(read.status, 0) << base << ": " << read.err;
    EXPECT_NE(read.out.find("queue: 1401 ns"), std::string::npos) << base << read.out;
  }
  EXPECT_GE(bases, 9U);
}

TEST_F(MeasuredCommands, calibrate_writes_nothing_that_cannot_be_read) {
  write("flag.jsonl", R"({"kind": "micro.flag_one_way", "gpus": 4, "n": 1000, "us": 9000000})");
  const Ended ended =
      weft("calibrate flag.jsonl -o gpu.yaml --cluster-output node.yaml" + kBase + kCluster);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(
      ended.says("node.yaml: error: cluster.scale_up.link.latency: not written, because it"))
      << ended.err;
  EXPECT_FALSE(wrote("gpu.yaml"));
  EXPECT_FALSE(wrote("node.yaml"));
  EXPECT_TRUE(weft("calibrate flag.jsonl -o gpu.yml" + kBase).says("must end in .yaml"));
}

// The lines are what the simulator itself says of a start-up of 2.5 us, the base has 2.603. It is
// 0.3 of such a time, and the base holds it by 0.3 too: as one line more beside three, so a quarter
// of the way back, 2.526 us. (A line's other numbers take their share.)
TEST_F(MeasuredCommands, calibrate_goes_for_the_start_up_that_made_the_lines) {
  write("gpu.yaml", "base: gpus/h200\ncollective: {ll: {startup: 2.5 us}}\n");
  write("node.yaml", "base: clusters/node_4x_h200\ngpu: {base: gpu}\n");
  write("small.jsonl",
        R"({"kind": "micro.nccl_allreduce", "gpus": 4, "bytes_per_gpu": 4096, "us": 1}
{"kind": "micro.nccl_allgather", "gpus": 4, "bytes_per_gpu": 4096, "us": 1}
{"kind": "micro.nccl_reducescatter", "gpus": 4, "bytes_per_gpu": 4096, "us": 1}
)");
  ASSERT_EQ(weft("validate small.jsonl --json said.json --cluster node.yaml").status, 0)
      << text_of(folder_ / "err.txt");
  const auto said = nlohmann::json::parse(text_of(folder_ / "said.json"));
  std::string lines;
  for (const auto& one : said["cases"]) {
    lines += nlohmann::json{{"kind", one["kind"]},
                            {"gpus", 4},
                            {"bytes_per_gpu", 4096},
                            {"us", one["predicted_us"]}}
                 .dump() +
             "\n";
  }
  write("made.jsonl", lines);
  const Ended ended =
      weft("calibrate made.jsonl -o fitted.yaml --cluster-output out.yaml" + kBase + kCluster);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string path = "collective.ll.startup";
  const std::size_t at = ended.out.find(path);
  ASSERT_NE(at, std::string::npos) << ended.out;
  EXPECT_NEAR(std::stod(ended.out.substr(at + path.size())), 2.526, 0.05) << ended.out;
  EXPECT_TRUE(ended.says("collective.exchange_rate: kept")) << ended.err;
}

}  // namespace
}  // namespace weft::measured_commands_test
