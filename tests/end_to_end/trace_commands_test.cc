// `weft import`, `weft export` and `weft run` of a trace, as a user meets them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/end_to_end/program.h"
#include "tests/end_to_end/trace_scenario.h"
#include "tests/unit/traces/chakra_writer.h"

namespace weft::trace_commands_test {
namespace {

namespace fs = std::filesystem;

class TraceCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < 4; ++rank) {
      folder_.write("t." + std::to_string(rank) + ".et",
                    generated({compute(0, 20), collective(1, 0, 1 << 20, {0}), compute(2, 30, {0}),
                               compute(3, 5, {1, 2})}));
    }
  }
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_.path(""), arguments);
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return weft::text_of(folder_.path(name));
  }

  TraceFolder folder_{"trace_commands"};
};

TEST_F(TraceCommands, import_prints_bytes_found_and_simulated_and_writes_a_graph) {
  const Ended ended = weft("import chakra t --gpus 4 -o graph.json");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("4194304"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("comm_size_unit: bytes"), std::string::npos);
  const auto graph = nlohmann::json::parse(text_of("graph.json"));
  EXPECT_EQ(graph["operators"].size(), 4U * 3 + 1);
  EXPECT_EQ(weft("import chakra t --gpus 4 -o graph.yaml").status, 0);
  EXPECT_NE(text_of("graph.yaml").find("collective: {op: all_reduce, bytes: 1 MiB}"),
            std::string::npos);
}

TEST_F(TraceCommands, a_mistake_in_a_trace_ends_with_1) {
  const Ended missing = weft("import chakra t --gpus 5");
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.err.find("t.4.et: error: no such file"), std::string::npos) << missing.err;
  EXPECT_EQ(weft("import elsewhere t --gpus 4").status, 1);
}

TEST_F(TraceCommands, a_trace_is_run_and_exported_and_read_again) {
  folder_.write("scenario.yaml", kTraceScenario);
  // Kernels of 20, 30 and 5 us; the all-reduce of 1 MiB on four GPUs at 25 GB/s, beside the second,
  // takes 2 x 3/4 x 1 MiB / 25 GB/s = 63 us or more: 20 + 63 + 5 us at least.
  const Ended ran = weft("run scenario.yaml -o results");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("bytes simulated"), std::string::npos) << ran.out;
  const auto summary = nlohmann::json::parse(text_of("results/summary.json"));
  const double us = summary["modes"]["bulk"]["time_us"].get<double>();
  EXPECT_GE(us, 88);
  EXPECT_LE(us, 130);

  const Ended exported = weft("export scenario.yaml --chakra again");
  ASSERT_EQ(exported.status, 0) << exported.err;
  const Ended imported = weft("import chakra again --gpus 4 -o again.json");
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(nlohmann::json::parse(text_of("again.json"))["operators"].size(), 4U * 3 + 1);
}

// An operator and its collective: on each of 4 GPUs one node of each.
TEST_F(TraceCommands, a_single_operator_is_exported_like_a_model) {
  const Ended exported =
      weft("export " WEFT_SOURCE_DIR "/configs/scenarios/gemv_ar_4_gpus.yaml --chakra pair");
  ASSERT_EQ(exported.status, 0) << exported.err;
  const Ended imported = weft("import chakra pair --gpus 4 -o pair.json");
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(nlohmann::json::parse(text_of("pair.json"))["operators"].size(), 4U + 1);
}

// A trace has other kinds too: the key is for those that there is such an algorithm of.
TEST_F(TraceCommands, an_algorithm_is_for_the_collectives_that_have_it) {
  std::filesystem::create_directories(folder_.path("deep"));
  for (int rank = 0; rank < 4; ++rank) {
    folder_.write("deep/two." + std::to_string(rank) + ".et",
                  generated({compute(0, 20), collective(1, 0, 1 << 20, {0}),
                             collective(2, 6, 1 << 20, {1})}));
  }
  std::string scenario = kTraceScenario;
  scenario.replace(scenario.find("path: t"), 7, "path: two");
  folder_.write("deep/scenario.yaml", scenario + "collective: {algorithm: ring}\n");
  const Ended ran = weft("run deep/scenario.yaml -o results");  // its path is from its own folder
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string operators = text_of("results/operators.csv");
  EXPECT_NE(operators.find("(ring, "), std::string::npos) << operators;
  EXPECT_NE(operators.find("(direct, "), std::string::npos) << operators;
  EXPECT_TRUE(
      ran.says("collective.algorithm: 'ring' does not exist for some collectives of this "
               "model (all_to_all); the library's choice is used for them"))
      << ran.err;
  // Of the all-reduces alone a command line's path is from the working folder.
  EXPECT_EQ(weft("run deep/scenario.yaml --set workload.path=t").status, 0);
  EXPECT_NE(weft("run deep/scenario.yaml --set workload.path=two").status, 0);
  // A sweep's are from the sweep's file, and what does a row again says it from here.
  folder_.write("deep/sweep.yaml",
                "name: s\nscenario: scenario\n"
                "axes:\n  - {key: workload.path, values: [two, ../t]}\n");
  const Ended swept = weft("sweep deep/sweep.yaml -q -o rows");
  ASSERT_EQ(swept.status, 0) << swept.err;
  for (const char* path : {"workload.path=deep/two", "workload.path=t"}) {
    EXPECT_NE(text_of("rows/results.jsonl").find(path), std::string::npos) << path;
  }
}

TEST_F(TraceCommands, help_says_what_there_is) {
  const Ended import = weft("import --help");
  EXPECT_EQ(import.status, 0);
  for (const char* option : {"--gpus", "--one-for-all", "--comm-size-unit", "--waits-for"}) {
    EXPECT_NE(import.out.find(option), std::string::npos) << option;
  }
  EXPECT_NE(weft("export --help").out.find("--chakra"), std::string::npos);
}

// As some YAML readers take U+0085 and U+2028 for the end of a line, and refuse DEL.
TEST_F(TraceCommands, a_graph_as_yaml_has_nothing_that_yaml_readers_refuse) {
  WrittenNode node = compute(0, 20);
  node.name = "a\x7f\xc2\x85\xe2\x80\xa8\xef\xbf\xbe\x1b[31mb";
  folder_.write("odd.0.et", generated({node}));
  const Ended ended = weft("import chakra odd --gpus 1 -o graph.yaml");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string yaml = text_of("graph.yaml");
  EXPECT_NE(yaml.find("name: \"a?????[31mb\""), std::string::npos) << yaml;
  for (const char* odd : {"\x7f", "\xc2\x85", "\xe2\x80\xa8", "\xef\xbf\xbe", "\x1b"}) {
    EXPECT_EQ(yaml.find(odd), std::string::npos) << yaml;
  }
}

TEST_F(TraceCommands, an_error_about_a_name_commands_no_terminal) {
  WrittenNode node = collective(0, 99, 64);
  node.name =
      "a\xc2\x9b"
      "31m\xe2\x80\xae\x1b[31m";
  folder_.write("odd.0.et", generated({node}));
  const Ended ended = weft("import chakra odd --gpus 1");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("node 0 'a?31m??[31m'")) << ended.err;
}

}  // namespace
}  // namespace weft::trace_commands_test
