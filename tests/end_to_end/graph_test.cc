// A graph runs as what it was made from: a trace, a model. In every mode, to the last digit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/program.h"
#include "tests/end_to_end/trace_scenario.h"
#include "tests/unit/traces/chakra_writer.h"

namespace weft::graph_end_to_end_test {
namespace {

using Json = nlohmann::json;

class Graph : public ::testing::Test {
 protected:
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_.path(""), arguments);
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return weft::text_of(folder_.path(name));
  }
  // All that was simulated, without what says when and from which files. Rates are left out: they
  // are of a model's size, which a graph does not know.
  [[nodiscard]] Json modes_of(const std::string& results) const {
    Json modes = Json::parse(text_of(results + "/summary.json"))["modes"];
    for (Json& mode : modes) {
      for (const char* rate : {"mfu", "mfu_full_attention", "model_flops", "tflops_per_gpu",
                               "memory_of_fullest_gpu_bytes", "time_per_output_token_us",
                               "tokens_per_s", "tokens_per_s_per_gpu"}) {
        mode.erase(rate);
      }
    }
    return modes;
  }
  void expect_same_results(const std::string& of, const std::string& as) const {
    EXPECT_EQ(modes_of(of), modes_of(as));
    EXPECT_EQ(text_of(of + "/operators.csv"), text_of(as + "/operators.csv"));
    EXPECT_EQ(text_of(of + "/fusions.csv"), text_of(as + "/fusions.csv"));
  }
  // The same scenario of another workload.
  static std::string running(std::string scenario, const std::string& workload) {
    const std::size_t start = scenario.find("workload:");
    return scenario.replace(start, scenario.find('\n', start) - start, "workload: " + workload);
  }

  TraceFolder folder_{"graph"};
};

constexpr const char* kAllModes = "--mode bulk --mode kernel --mode pipelined --mode fused";

// A GEMM by grid, whose result an all-reduce sends: a pair to fuse.
TEST_F(Graph, of_a_chakra_trace_runs_as_the_trace) {
  for (int rank = 0; rank < 4; ++rank) {
    WrittenNode gemm = compute(0, 20 + static_cast<std::uint64_t>(rank));
    gemm.name = "gemm";
    folder_.write("t." + std::to_string(rank) + ".et",
                  generated({gemm, collective(1, 0, 1 << 20, {0}), compute(2, 30, {0}),
                             compute(3, 5, {1, 2})}));
  }
  folder_.write("trace.yaml", kTraceScenario);
  for (const char* file : {"g.yaml", "g.json"}) {
    ASSERT_EQ(weft(std::string("import chakra t --gpus 4 -o ") + file).status, 0);
    folder_.write("graph.yaml",
                  running(kTraceScenario, std::string("{kind: graph, path: ") + file + "}"));
    ASSERT_EQ(weft(std::string("run trace.yaml -o trace ") + kAllModes).status, 0);
    const Ended ran = weft(std::string("run graph.yaml -o graph ") + kAllModes);
    ASSERT_EQ(ran.status, 0) << ran.err;
    expect_same_results("trace", "graph");
  }
}

// Twenty layers on four GPUs, of which no file says that they are alike. Numbered, as others do it.
TEST_F(Graph, what_recurs_is_found_and_simulated_once) {
  std::vector<WrittenNode> nodes;
  for (std::uint64_t layer = 0; layer < 20; ++layer) {
    const std::uint64_t id = 4 * layer;
    const std::vector<std::uint64_t> before =
        layer == 0 ? std::vector<std::uint64_t>() : std::vector<std::uint64_t>{id - 1};
    nodes.push_back(compute(id, 20, before));
    nodes.push_back(collective(id + 1, 0, 1 << 20, {id}));
    nodes.push_back(compute(id + 2, 30, {id + 1}));
    nodes.push_back(collective(id + 3, 0, 1 << 20, {id + 2}));
    for (std::uint64_t i = 0; i < 4; ++i) {
      nodes[nodes.size() - 4 + i].name = "node_" + std::to_string(id + i);
    }
  }
  for (int rank = 0; rank < 4; ++rank) {
    folder_.write("t." + std::to_string(rank) + ".et", generated(nodes));
  }
  folder_.write("trace.yaml", kTraceScenario);
  ASSERT_EQ(weft("run trace.yaml -o whole --mode bulk").status, 0);
  const Ended ran = weft("run trace.yaml -o found --mode bulk --set workload.find_blocks=true");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("find_blocks: 20 blocks, of 1 kinds, in 1 programs"), std::string::npos)
      << ran.out;
  const Json whole = Json::parse(text_of("whole/summary.json"))["modes"]["bulk"];
  const Json found = Json::parse(text_of("found/summary.json"))["modes"]["bulk"];
  EXPECT_NEAR(found["time_us"].get<double>() / whole["time_us"].get<double>(), 1, 1e-3);
  EXPECT_LT(found["events"].get<double>(), 0.2 * whole["events"].get<double>());
  // The graph that import writes has the blocks.
  ASSERT_EQ(weft("import chakra t --gpus 4 --find-blocks -o g.yaml").status, 0);
  EXPECT_NE(text_of("g.yaml").find("block: "), std::string::npos);
}

TEST_F(Graph, of_a_model_runs_as_the_model) {
  const std::string model = WEFT_SOURCE_DIR "/configs/scenarios/models/mixtral_decode.yaml";
  const Ended exported = weft("export " + model + " --graph g.yaml");
  ASSERT_EQ(exported.status, 0) << exported.err;
  ASSERT_EQ(weft("run " + model + " -o model " + kAllModes).status, 0);
  const Ended ran =
      weft("run " + model +
           " --set workload=~ --set 'workload={kind: graph, path: g.yaml}' -o graph " + kAllModes);
  ASSERT_EQ(ran.status, 0) << ran.err;
  expect_same_results("model", "graph");
}

TEST_F(Graph, with_a_mistake_ends_with_1) {
  folder_.write("g.yaml", "gpus: 4\noperators:\n  - {name: a, gpus: [0], memry: {}}\n");
  folder_.write("graph.yaml", running(kTraceScenario, "{kind: graph, path: g.yaml}"));
  const Ended ran = weft("run graph.yaml");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(
      ran.says("g.yaml:3:26: error: operators[0].memry: unknown key; did you mean "
               "'memory'?"))
      << ran.err;
}

TEST_F(Graph, is_not_written_of_an_operator_that_is_described_down_to_its_wgs) {
  const Ended ended =
      weft("export " WEFT_SOURCE_DIR "/configs/scenarios/gemv_ar_4_gpus.yaml --graph g.yaml");
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(ended.says("described down to its WGs")) << ended.err;
  EXPECT_TRUE(weft("export " WEFT_SOURCE_DIR "/configs/scenarios/gemv_ar_4_gpus.yaml")
                  .says("either --chakra PREFIX or --graph FILE"));
}

}  // namespace
}  // namespace weft::graph_end_to_end_test
