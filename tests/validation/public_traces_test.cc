// Traces from public repositories, which are not part of this one: skipped where they are absent.
// WEFT_TRACES names their folder; else they are looked for beside the repository.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/graph_round_trip.h"

namespace weft::public_traces_test {
namespace {

namespace fs = std::filesystem;

class PublicTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("WEFT_TRACES");
    folder_ = given != nullptr ? fs::path(given)
                               : fs::path(WEFT_SOURCE_DIR).parent_path() / "shared" / "traces";
    if (!fs::is_directory(folder_)) {
      GTEST_SKIP() << "no public traces in " << folder_ << "; WEFT_TRACES names their folder";
    }
  }
  [[nodiscard]] LoadedTrace chakra(const std::string& prefix, int gpus, bool one = false) const {
    TraceWork work;
    work.path = (folder_ / prefix).string();
    work.one_for_all = one;
    LoadedTrace loaded = load_trace(work, gpus);
    if (loaded.graph) expect_round_trip(*loaded.graph, gpus);
    return loaded;
  }
  fs::path folder_;
};

TEST_F(PublicTraces, four_collectives_of_one_megabyte) {
  for (const auto& [name, op, buffer] : {std::tuple{"all_gather", CollectiveOp::all_gather, 8},
                                         {"all_reduce", CollectiveOp::all_reduce, 1},
                                         {"all_to_all", CollectiveOp::all_to_all, 1},
                                         {"reduce_scatter", CollectiveOp::reduce_scatter, 1}}) {
    const LoadedTrace loaded = chakra(std::string("chakra_small/") + name + "/" + name, 8);
    ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
    ASSERT_EQ(loaded.graph->ops.size(), 1U);
    const auto& shape = std::get<CommunicationShape>(loaded.graph->ops[OpId(0)].shape);
    EXPECT_EQ(shape.op, op);
    EXPECT_EQ(shape.buffer, mebibytes(buffer));
    EXPECT_EQ(loaded.summary.by_kind.at(name).bytes_found, 8 * 1024 * 1024);
  }
}

TEST_F(PublicTraces, a_recorded_rank_of_3664_nodes) {
  const LoadedTrace loaded = chakra("chakra_pytorch/chakra", 8, true);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.summary.nodes, 3664U);
  // Its kernels, counted by another program: 1,209 of 292.828 ms, of which 157 take 0 us.
  EXPECT_EQ(loaded.summary.by_kind.at("compute").operators, 1209U - 157U);
  EXPECT_EQ(loaded.summary.recorded, microseconds(292'828));
  EXPECT_EQ(loaded.summary.by_kind.at("all_reduce").bytes_found,
            8'196'000 + 31'502'336 + 26'255'360 + 26'550'272 + 9'724'160);
  EXPECT_EQ(loaded.summary.by_kind.at("broadcast").bytes_found, 212'480 + 424);
  for (const ModelOp& op : loaded.graph->ops) {
    if (communicates(op)) {
      EXPECT_FALSE(op.after.empty()) << op.name;
    }
  }
}

TEST_F(PublicTraces, sizes_that_a_peer_takes_for_zero) {
  // Unsigned sizes are read; missing ones are refused, each by its node.
  const LoadedTrace older = chakra("chakra_bad/one_comm_coll_node_allreduce", 4);
  ASSERT_TRUE(older.graph) << older.problems.to_text();
  EXPECT_EQ(older.summary.by_kind.at("all_reduce").bytes_found, 4 * 65'536);
  const LoadedTrace missing = chakra("chakra_bad/Resnet50_DataParallel", 4);
  EXPECT_FALSE(missing.graph);
  const std::string text = missing.problems.to_text();
  EXPECT_NE(text.find("Resnet50_DataParallel.0.et: error: node 55 'COMM_COLL_NODE_fc1000_ALLREDUCE'"
                      ": comm_size: missing"),
            std::string::npos)
      << text;
  EXPECT_FALSE(chakra("chakra_pytorch/small_chakra", 8, true).graph);
}

TEST_F(PublicTraces, a_dlrm_step_of_eight_gpus) {
  const fs::path unpacked =
      fs::temp_directory_path() / ("weft_public_" + std::to_string(::getpid()));
  fs::create_directories(unpacked);
  for (const char* packed : {"dlrm_kineto.tar.gz", "dlrm_pytorch_et.tar.gz"}) {
    const fs::path file = folder_ / "dlrm_8xV100" / packed;
    const std::string command = "tar -xzf '" + file.string() + "' -C '" + unpacked.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  TraceWork work;
  work.format = WorkloadKind::pytorch;
  work.path = (unpacked / "dlrm_kineto").string();
  work.execution_traces = (unpacked / "dlrm_pytorch_et").string();
  const LoadedTrace loaded = load_trace(work, 8);
  fs::remove_all(unpacked);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  expect_round_trip(*loaded.graph, 8);
  const TraceTotal& reduced = loaded.summary.by_kind.at("all_reduce");
  EXPECT_EQ(reduced.operators, 3U);
  EXPECT_EQ(reduced.bytes_found, 8 * 4 * (394'241 + 112 + 226'960));
  EXPECT_EQ(reduced.bytes_simulated, reduced.bytes_found);
  const TraceTotal& exchanged = loaded.summary.by_kind.at("all_to_all");
  EXPECT_EQ(exchanged.operators, 5U);
  EXPECT_EQ(exchanged.bytes_simulated, exchanged.bytes_found);
  std::size_t uneven = 0;
  for (const ModelOp& op : loaded.graph->ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call != nullptr && !call->pair_bytes.empty()) ++uneven;
  }
  EXPECT_EQ(uneven, 1U);  // the indices; all else is even
}

}  // namespace
}  // namespace weft::public_traces_test
