// What is written as Chakra is read again as the same work.
#include "sim/traces/chakra/chakra_export.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"

namespace weft::chakra_export_test {
namespace {

GpuSpec slow_gpu() {
  GpuSpec gpu;
  gpu.fp32_vector = gigaflops(1'000);
  gpu.bf16_matrix = gigaflops(100'000);
  gpu.memory.bandwidth = gigabytes_per_second(1'000);
  gpu.memory.latency = nanoseconds(500);
  gpu.memory.bend = 2.6;
  gpu.cus = 100;
  gpu.wave_size = 64;
  gpu.cu = {.waves = 32, .registers = 131'072, .lds = kibibytes(64), .wgs = 32};
  gpu.l2.dies = 1;
  gpu.l2.capacity = mebibytes(8);
  return gpu;
}

// Four GPUs: a GEMM each; an all-gather of pairs beside a copy; a message; all of them at the end.
ModelGraph small_model() {
  ModelGraph graph;
  const PlaceId each = graph.add_place({.groups = {{0}, {1}, {2}, {3}}});
  const PlaceId pairs = graph.add_place({.groups = {{0, 1}, {2, 3}}});
  const PlaceId across = graph.add_place({.groups = {{1, 2}}});
  const PlaceId all = graph.add_place({.groups = {{0, 1, 2, 3}}});
  const OpId gemm =
      graph.add({.name = "gemm",
                 .part = "mlp",
                 .shape = GemmShape{.m = 1'000, .n = 1'000, .k = 1'000, .m_by_rank = {}},
                 .place = each,
                 .after = {}});
  const OpId gather = graph.add({.name = "gather",
                                 .part = "all_gather",
                                 .shape = CommunicationShape{.op = CollectiveOp::all_gather,
                                                             .buffer = bytes(4'000),
                                                             .pair_bytes = {}},
                                 .place = pairs,
                                 .stream = 1,
                                 .after = {gemm}});
  const OpId copy =
      graph.add({.name = "copy",
                 .part = "norm",
                 .shape = StreamShape{.read = bytes(3'000'000), .written = {}, .flops = {}},
                 .place = each,
                 .after = {}});
  const OpId message = graph.add({.name = "message",
                                  .part = "send",
                                  .shape = CommunicationShape{.op = CollectiveOp::point_to_point,
                                                              .buffer = bytes(500),
                                                              .pair_bytes = {}},
                                  .place = across,
                                  .stream = 2,
                                  .after = {gather}});
  graph.add({.name = "sum",
             .part = "all_reduce",
             .shape =
                 CommunicationShape{
                     .op = CollectiveOp::all_reduce, .buffer = bytes(800), .pair_bytes = {}},
             .place = all,
             .stream = 3,
             .after = {copy, message}});
  graph.verify();
  return graph;
}

TEST(ChakraExport, is_read_again_as_the_same_work) {
  const ModelGraph model = small_model();
  const GpuSpec gpu = slow_gpu();
  const ChakraExport exported(model, gpu, 4);
  const TraceFolder folder("export");
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    folder.write("t." + std::to_string(rank) + ".et", exported.rank(rank));
  }
  folder.write("groups.json", exported.groups());
  EXPECT_EQ(exported.groups(), "{\"1\":[0,1],\"2\":[2,3]}\n");
  TraceWork work;
  work.path = folder.path("t");
  work.groups = folder.path("groups.json");
  const LoadedTrace loaded = load_trace(work, 4);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& kinds = loaded.summary.by_kind;
  EXPECT_EQ(kinds.at("compute").operators, 8U);
  EXPECT_EQ(kinds.at("all_gather").operators, 2U);
  EXPECT_EQ(kinds.at("all_gather").bytes_found, 4 * 2'000);
  EXPECT_EQ(kinds.at("all_gather").bytes_simulated, 4 * 4'000);
  EXPECT_EQ(kinds.at("send").bytes_simulated, 500);
  EXPECT_EQ(kinds.at("all_reduce").bytes_simulated, 4 * 800);
  // 2 GFLOP at 100 TFLOP/s are 20 us, 3 MB at 1 TB/s are 3.
  EXPECT_EQ(loaded.summary.recorded, microseconds(4 * (20 + 3)));

  // Each rank's operators stand in the same order as before, and wait for the same.
  std::vector<std::string> of_rank_1;
  for (const ModelOp& op : loaded.graph->ops) {
    for (const auto& group : loaded.graph->places[op.place].groups) {
      if (std::find(group.begin(), group.end(), 1U) != group.end()) of_rank_1.push_back(op.name);
    }
  }
  EXPECT_EQ(of_rank_1, (std::vector<std::string>{"gemm", "gather", "copy", "message", "sum"}));
}

// A recorded kernel keeps its grid; a copy of 3 MB starts a WG for each 16 KiB: 184 of them.
TEST(ChakraExport, a_kernel_keeps_its_wgs) {
  ModelGraph graph;
  const PlaceId both = graph.add_place({.groups = {{0}, {1}}});
  graph.add({.name = "recorded",
             .part = "compute",
             .shape = RecordedShape{.time = microseconds(7),
                                    .wgs = 528,
                                    .threads = 384,
                                    .registers_per_thread = 168,
                                    .lds = kibibytes(48)},
             .place = both,
             .after = {}});
  graph.add({.name = "copy",
             .part = "norm",
             .shape = StreamShape{.read = bytes(3'000'000), .written = {}, .flops = {}},
             .place = both,
             .after = {}});
  const GpuSpec gpu = slow_gpu();
  const ChakraExport exported(graph, gpu, 2);
  const TraceFolder folder("wgs");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    folder.write("t." + std::to_string(rank) + ".et", exported.rank(rank));
  }
  TraceWork work;
  work.path = folder.path("t");
  const LoadedTrace loaded = load_trace(work, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  std::size_t recorded = 0;
  for (const ModelOp& op : loaded.graph->ops) {
    const auto& shape = std::get<RecordedShape>(op.shape);
    if (op.name == "copy") {
      EXPECT_EQ(shape.wgs, 184);
    }
    if (op.name != "recorded") continue;
    ++recorded;
    EXPECT_EQ(shape, (RecordedShape{.time = microseconds(7),
                                    .wgs = 528,
                                    .threads = 384,
                                    .registers_per_thread = 168,
                                    .lds = kibibytes(48)}));
  }
  EXPECT_EQ(recorded, 2U);
  EXPECT_EQ(to_text(loaded.summary).find("do not say by how many WGs"), std::string::npos);
}

TEST(ChakraExport, an_uneven_all_to_all_says_what_each_rank_sends) {
  ModelGraph graph;
  const PlaceId both = graph.add_place({.groups = {{0, 1}}});
  graph.add({.name = "a2a",
             .part = "all_to_all",
             .shape = CommunicationShape{.op = CollectiveOp::all_to_all,
                                         .buffer = bytes(70),
                                         .pair_bytes = {10, 20, 30, 40}},
             .place = both,
             .stream = 1,
             .after = {}});
  const GpuSpec gpu = slow_gpu();
  const ChakraExport exported(graph, gpu, 2);
  EXPECT_EQ(exported.uneven(), 1U);
  const TraceFolder folder("uneven");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    folder.write("t." + std::to_string(rank) + ".et", exported.rank(rank));
  }
  TraceWork work;
  work.path = folder.path("t");
  const LoadedTrace loaded = load_trace(work, 2);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<CommunicationShape>(loaded.graph->ops[OpId(0)].shape).pair_bytes,
            (std::vector<std::int64_t>{15, 15, 35, 35}));
}

}  // namespace
}  // namespace weft::chakra_export_test
