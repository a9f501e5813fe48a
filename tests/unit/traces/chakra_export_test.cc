// What is written as Chakra is read again as the same work.
#include "sim/traces/chakra/chakra_export.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"

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

// What is exported of these ranks, as a trace in the folder.
LoadedTrace read_again(const ChakraExport& exported, std::uint32_t ranks, const TraceFolder& folder,
                       const std::string& groups = "") {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    folder.write("t." + std::to_string(rank) + ".et", exported.rank(rank));
  }
  TraceWork work;
  work.path = folder.path("t");
  work.groups = groups;
  return load_trace(work, static_cast<int>(ranks));
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
  folder.write("groups.json", exported.groups());
  EXPECT_EQ(exported.groups(), "{\"1\":[0,1],\"2\":[2,3]}\n");
  const LoadedTrace loaded = read_again(exported, 4, folder, folder.path("groups.json"));
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
  const LoadedTrace loaded = read_again(exported, 2, folder);
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

// A message of which both ends wait for each other stays one; others stay as they are.
TEST(ChakraExport, a_message_says_whether_its_ends_meet) {
  for (const bool meets : {false, true}) {
    ModelGraph graph;
    const PlaceId both = graph.add_place({.groups = {{0, 1}}});
    CommunicationShape call;
    call.op = CollectiveOp::point_to_point;
    call.buffer = bytes(500);
    call.meets = meets;
    graph.add({.name = "message", .part = "send", .shape = call, .place = both, .after = {}});
    const GpuSpec gpu = slow_gpu();
    const ChakraExport exported(graph, gpu, 2);
    const TraceFolder folder("meets");
    const LoadedTrace loaded = read_again(exported, 2, folder);
    ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
    ASSERT_EQ(loaded.graph->ops.size(), 1U);
    EXPECT_EQ(std::get<CommunicationShape>(loaded.graph->ops[OpId(0)].shape), call);
  }
}

TEST(ChakraExport, counts_what_chakra_cannot_say) {
  ModelGraph graph = small_model();
  const GpuSpec gpu = slow_gpu();
  const ChakraExport all_said(graph, gpu, 4);
  EXPECT_EQ(all_said.uneven() + all_said.by_rows() + all_said.beside_receives(), 0U);
  graph.ops[OpId(0)].beside = PostedReceive{.size = bytes(500)};
  CommunicationShape rows;
  rows.op = CollectiveOp::all_to_all;
  rows.buffer = bytes(800);
  rows.row = bytes(8);
  rows.puts = PutRows{};
  const PlaceId all = graph.add_place({.groups = {{0, 1, 2, 3}}});
  graph.add({.name = "rows", .part = "all_to_all", .shape = rows, .place = all, .after = {}});
  const ChakraExport exported(graph, gpu, 4);
  EXPECT_EQ(exported.beside_receives(), 1U);
  EXPECT_EQ(exported.by_rows(), 1U);
}

// Two kernels that run at once, and an all-reduce behind both: otherwise they would be one behind
// the other. The host's time is there, but has to be asked for.
TEST(ChakraExport, streams_that_compute_stay_apart) {
  ModelGraph graph;
  const PlaceId each = graph.add_place({.groups = {{0}, {1}}});
  const PlaceId both = graph.add_place({.groups = {{0, 1}}});
  RecordedShape kernel;
  kernel.time = microseconds(100);
  std::vector<OpId> kernels;
  for (const std::uint32_t stream : {0U, 1U}) {
    kernels.push_back(graph.add({.name = "kernel",
                                 .part = "compute",
                                 .shape = kernel,
                                 .place = each,
                                 .stream = stream,
                                 .after = {}}));
  }
  CommunicationShape sum;
  sum.buffer = bytes(4096);
  graph.add({.name = "sum",
             .part = "all_reduce",
             .shape = sum,
             .place = both,
             .stream = 2,
             .after = kernels});
  const GpuSpec gpu = slow_gpu();
  const ChakraExport exported(graph, gpu, 2);
  EXPECT_EQ(exported.of_host(), 0U);
  const TraceFolder folder("streams");
  const LoadedTrace loaded = read_again(exported, 2, folder);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  std::multiset<std::pair<std::string, std::uint32_t>> streams;
  for (const ModelOp& op : loaded.graph->ops) streams.emplace(op.name, op.stream);
  EXPECT_EQ(streams, (std::multiset<std::pair<std::string, std::uint32_t>>{
                         {"kernel", 0}, {"kernel", 0}, {"kernel", 1}, {"kernel", 1}, {"sum", 2}}));
  kernel.host = true;
  graph.ops[kernels.front()].shape = kernel;
  EXPECT_EQ(ChakraExport(graph, gpu, 2).of_host(), 1U);
}

// Two microbatches of two stages: the first stage is in its second block before the second stage is
// in its first. Read again, blocks stand together, so that alike ones are simulated once.
TEST(ChakraExport, operators_stay_in_their_blocks) {
  ModelGraph graph;
  const PlaceId first = graph.add_place({.groups = {{0}}});
  const PlaceId second = graph.add_place({.groups = {{1}}});
  const PlaceId both = graph.add_place({.groups = {{0, 1}}});
  for (const char* microbatch : {"0", "1"}) {
    const auto block = [&](const std::string& stage) {
      return graph.blocks.push_back({.name = "stage " + stage + ", microbatch " + microbatch});
    };
    const BlockId low = block("0");
    RecordedShape kernel;
    kernel.time = microseconds(7);
    kernel.wgs = 528;
    const OpId made = graph.add({.name = "low",
                                 .part = "compute",
                                 .shape = kernel,
                                 .place = first,
                                 .after = {},
                                 .block = low});
    CommunicationShape call;
    call.op = CollectiveOp::point_to_point;
    call.buffer = bytes(500);
    const BlockId high = block("1");
    const OpId sent = graph.add({.name = "message",
                                 .part = "send",
                                 .shape = call,
                                 .place = both,
                                 .stream = 1,
                                 .after = {made},
                                 .block = high});
    graph.add({.name = "high",
               .part = "compute",
               .shape = kernel,
               .place = second,
               .after = {sent},
               .block = high});
  }
  const GpuSpec gpu = slow_gpu();
  const ChakraExport exported(graph, gpu, 2);
  const TraceFolder folder("blocks");
  const LoadedTrace loaded = read_again(exported, 2, folder);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->blocks.size(), 4U);
  std::vector<std::string> names;
  std::vector<std::uint32_t> blocks;
  for (const ModelOp& op : loaded.graph->ops) {
    names.push_back(op.name);
    blocks.push_back(op.block.value);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"low", "message", "high", "low", "message", "high"}));
  EXPECT_EQ(blocks, (std::vector<std::uint32_t>{0, 1, 1, 2, 3, 3}));
  EXPECT_EQ(loaded.graph->ops[OpId(1)].after, std::vector<OpId>{OpId(0)});
  EXPECT_EQ(loaded.graph->ops[OpId(2)].after, std::vector<OpId>{OpId(1)});
  expect_round_trip(*loaded.graph, 2);
}

// What ranks do alike is one operator again, of all of its groups.
TEST(ChakraExport, operators_of_a_block_are_those_of_the_model) {
  ModelGraph graph;
  const BlockId block = graph.blocks.push_back({.name = "layer"});
  const PlaceId each = graph.add_place({.groups = {{0}, {1}, {2}, {3}}});
  const PlaceId pairs = graph.add_place({.groups = {{0, 1}, {2, 3}}});
  RecordedShape kernel;
  kernel.time = microseconds(7);
  kernel.wgs = 528;
  CommunicationShape sum;
  sum.buffer = bytes(4096);
  OpId last = OpId::none();
  for (const char* name : {"up", "down"}) {
    std::vector<OpId> after;
    if (!last.is_none()) after.push_back(last);
    const OpId made = graph.add({.name = name,
                                 .part = "compute",
                                 .shape = kernel,
                                 .place = each,
                                 .after = after,
                                 .block = block});
    last = graph.add({.name = "sum",
                      .part = "all_reduce",
                      .shape = sum,
                      .place = pairs,
                      .stream = 1,
                      .after = {made},
                      .block = block});
  }
  const GpuSpec gpu = slow_gpu();
  const ChakraExport exported(graph, gpu, 4);
  const TraceFolder folder("joined");
  folder.write("t.groups.json", exported.groups());
  const LoadedTrace loaded = read_again(exported, 4, folder);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  graph.blocks.begin()->name = "block 0";
  expect_same_graph(graph, *loaded.graph);
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
  const LoadedTrace loaded = read_again(exported, 2, folder);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<CommunicationShape>(loaded.graph->ops[OpId(0)].shape).pair_bytes,
            (std::vector<std::int64_t>{15, 15, 35, 35}));
}

}  // namespace
}  // namespace weft::chakra_export_test
