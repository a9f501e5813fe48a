// Reports of Nsight Systems, and copies of what they recorded, as a user meets them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/program.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/nsys_writer.h"

namespace weft::nsys_command_test {
namespace {

constexpr const char* kScenario = R"(name: a report
cluster:
  name: node
  nodes: 1
  gpus_per_node: 2
  gpu: {base: gpus/h100}
  scale_up: {shape: switch, link: {bandwidth: 450 GB/s, latency: 700 ns}}
workload: {kind: nsys, path: report.sqlite}
modes: [bulk]
)";

class NsysCommands : public ::testing::Test {
 protected:
  // Two data-parallel ranks: a product, a sum of its gradients, a kernel behind it.
  void SetUp() override {
    NsysReport report;
    for (const int rank : {0, 1}) {
      report.process(10 + rank, rank);
      report.in_range("aten::mm, op_id = 1, sizes = [[1024, 256], [256, 512]]", 7, 20, "gemm");
      report.says("ncclAllReduce", 99, 1 << 20).kernel(20, 90, "ncclDevKernel_AllReduce(x)");
      report.wait(7, 20).kernel(7, 30, "optimizer");
    }
    report.write(folder_.path("report.sqlite"));
    folder_.write("report.yaml", kScenario);
  }
  [[nodiscard]] Ended weft(const std::string& arguments) const {
    return weft_in(folder_.path(""), arguments);
  }
  [[nodiscard]] nlohmann::json summary(const std::string& results) const {
    return nlohmann::json::parse(text_of(folder_.path(results + "/summary.json")));
  }

  TraceFolder folder_{"nsys_commands"};
};

TEST_F(NsysCommands, a_report_is_imported_and_its_graph_runs_alike) {
  const Ended imported = weft("import nsys report.sqlite --gpus 2 -o graph.yaml");
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_NE(imported.out.find("Nsight Systems; 2 ranks"), std::string::npos) << imported.out;
  EXPECT_NE(imported.out.find("recorded on: NVIDIA H100 80GB HBM3"), std::string::npos);
  EXPECT_EQ(weft("run report.yaml -o first").status, 0);
  EXPECT_EQ(
      weft("run report.yaml --set workload='{kind: graph, path: graph.yaml}' -o second").status, 0);
  EXPECT_EQ(summary("first")["modes"]["bulk"]["time_us"],
            summary("second")["modes"]["bulk"]["time_us"]);
  EXPECT_EQ(summary("first")["recorded"], summary("second")["recorded"]);
  EXPECT_EQ(weft("export report.yaml --graph exported.yaml").status, 0);
  EXPECT_EQ(text_of(folder_.path("exported.yaml")), text_of(folder_.path("graph.yaml")));
}

TEST_F(NsysCommands, replicas_are_copied_and_their_collective_grows) {
  ASSERT_EQ(weft("run report.yaml -o two").status, 0);
  const std::string eight =
      "run report.yaml --set cluster.gpus_per_node=8 --set workload.copies=8 -o eight";
  const Ended grown = weft(eight + " --set workload.recorded_copies=2");
  EXPECT_EQ(grown.status, 0) << grown.err;
  EXPECT_NE(grown.out.find("copies: 8 in place of 2 recorded; 1 collectives are across them"),
            std::string::npos)
      << grown.out;
  EXPECT_GT(summary("eight")["modes"]["bulk"]["time_us"], 50);
  EXPECT_NE(summary("eight")["modes"]["bulk"]["time_us"],
            summary("two")["modes"]["bulk"]["time_us"]);
  // Two recorded ranks as one replica: nothing is exchanged between replicas.
  const Ended apart =
      weft("run report.yaml --set cluster.gpus_per_node=8 --set workload.copies=4 -o apart");
  EXPECT_EQ(apart.status, 0) << apart.err;
  EXPECT_TRUE(apart.says("nothing is exchanged between the copies")) << apart.err;
  EXPECT_EQ(summary("apart")["modes"]["bulk"]["time_us"],
            summary("two")["modes"]["bulk"]["time_us"]);
}

TEST_F(NsysCommands, mistakes_end_with_1_and_leave_no_results) {
  const auto refused = [this](const std::string& arguments, const std::string& words) {
    const Ended ended = weft("run report.yaml -o wrong " + arguments);
    EXPECT_EQ(ended.status, 1) << arguments;
    EXPECT_TRUE(ended.says(words)) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path("wrong")));
  };
  refused("--set workload.copies=3",
          "workload.copies: the cluster's 2 GPUs do not divide among 3 copies");
  refused("--set workload.recorded_copies=2", "as many as recorded_copies, or more");
  refused("--set workload.last_step=3", "must come after step");
  refused("--set workload.step=3", "no step #3; it has none");
  refused("--set workload.collective_sizes=none.txt", "none.txt: error: no such file");
  refused("--set cluster.gpus_per_node=4", "kernels of 2 GPUs, but the cluster has 4");
  folder_.write("sizes.txt", "all_reduce 1 MiB\n");
  refused("--set workload.collective_sizes=sizes.txt", "no effect");
}

}  // namespace
}  // namespace weft::nsys_command_test
