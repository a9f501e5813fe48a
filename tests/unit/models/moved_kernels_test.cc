// Recorded kernels on another GPU, against what its numbers say by hand.
#include "sim/models/moved_kernels.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::moved_kernels_test {
namespace {

Scenario on(const std::string& gpu) {
  return scenario_of(
      "name: moved\n"
      "cluster: {name: one, nodes: 1, gpus_per_node: 1, gpu: {base: gpus/" +
      gpu + "}}\nworkload: {kind: graph, path: none}\nmodes: [bulk]\n");
}

ModelGraph graph_of(const std::string& name, const RecordedShape& shape) {
  ModelGraph graph;
  ModelOp op;
  op.name = name;
  op.part = "compute";
  op.shape = shape;
  op.place = graph.add_place({.groups = {{0}}});
  graph.add(std::move(op));
  return graph;
}

RecordedShape kernel_of(const RecordedWork& work, Duration time = microseconds(100)) {
  RecordedShape shape{.time = time, .lds = {}};
  shape.work = work;
  return shape;
}

RecordedWork stream_of(Bytes moved) {
  RecordedWork work;
  work.kind = RecordedKind::norm;
  work.read = moved;
  return work;
}

RecordedWork gemm_of(std::int64_t size) {
  RecordedWork work;
  work.kind = RecordedKind::gemm;
  work.matrix = true;
  work.flops = flops(2 * size * size * size);
  work.read = bytes(4 * size * size);
  work.written = bytes(2 * size * size);
  work.gemm = RecordedGemm{.m = size, .n = size, .k = size};
  return work;
}

RecordedWork attention_of(Flops all) {
  RecordedWork work;
  work.kind = RecordedKind::attention;
  work.matrix = true;
  work.flops = all;
  work.read = bytes(1'000'000);
  work.written = bytes(1'000'000);
  return work;
}

Duration time_of(const ModelGraph& graph) {
  return std::get<RecordedShape>(graph.ops[OpId(0)].shape).time;
}

double moved(const std::string& name, const RecordedShape& shape, const std::string& from,
             const std::string& to) {
  ModelGraph graph = graph_of(name, shape);
  const Scenario there = on(from);
  move_recorded(graph, on(to), there.cluster.gpu);
  return to_microseconds(time_of(graph));
}

TEST(MovedKernels, on_the_same_gpu_nothing_changes) {
  for (const RecordedWork& work :
       {stream_of(mebibytes(64)), gemm_of(4096), attention_of(flops(1'000'000'000'000))}) {
    EXPECT_EQ(moved("kernel", kernel_of(work), "h200", "h200"), 100);
  }
}

// 1 GiB read: the HBM of an H200 streams 4.625 TB/s, an A100's 1.87 TB/s. A kernel that took 100 us
// has as much longer as the memory is slower, but for starts and ends that are a few us of 574.
TEST(MovedKernels, what_streams_scales_with_the_memory) {
  const double here = moved("kernel", kernel_of(stream_of(mebibytes(1024))), "h200", "a100");
  EXPECT_NEAR(here, 100 * 4.625 / 1.87, 0.02 * here);
}

// 8192^3: both GPUs' models are bound by their matrix units, 989 and 312 TFLOP/s at 0.84 and 0.873
// of them, and by full rounds of tiles, which differ by some per cent.
TEST(MovedKernels, a_large_gemm_scales_with_the_matrix_units) {
  const double here = moved("kernel", kernel_of(gemm_of(8192)), "h200", "a100");
  EXPECT_NEAR(here, 100 * (989 * 0.84) / (312 * 0.873), 0.10 * here);
}

// Of 10^12 operations, bounded by the peaks, not by 2 MB.
// 32 heads of 128, 8,192 tokens: 0.65 of an H200's 989 TFLOP/s where both arithmetic and softmax
// count, and FlashAttention 2's 0.6 of an A100's 312.
TEST(MovedKernels, attention_of_known_sizes_scales_with_the_librarys_kernels) {
  RecordedWork work = attention_of(flops(4 * 8192LL * 8192 * 128 * 32));
  work.attention = RecordedAttention{.batch = 1,
                                     .heads = 32,
                                     .kv_heads = 8,
                                     .head_dim = 128,
                                     .value_head_dim = 128,
                                     .queries = 8192,
                                     .keys = 8192};
  const double here = moved("kernel", kernel_of(work), "h200", "a100");
  EXPECT_NEAR(here, 100 * (989 * 0.65) / (312 * 0.6), 0.12 * here);
  // Of few tokens there is no backward kernel in the model.
  work.attention->queries = work.attention->keys = 64;
  work.attention->backward = true;
  EXPECT_NEAR(moved("kernel", kernel_of(work), "h200", "a100"), 100 * 989.0 / 312, 1e-3);
}

TEST(MovedKernels, attention_without_sizes_scales_with_its_roofline) {
  const RecordedShape shape = kernel_of(attention_of(flops(1'000'000'000'000)));
  EXPECT_NEAR(moved("kernel", shape, "h200", "a100"), 100 * 989.0 / 312, 1e-3);
}

TEST(MovedKernels, what_is_unknown_keeps_its_time_and_so_do_copies_from_the_host) {
  EXPECT_EQ(moved("kernel", {.time = microseconds(100), .lds = {}}, "h200", "a100"), 100);
  const RecordedShape copy = kernel_of(stream_of(mebibytes(64)));
  EXPECT_EQ(moved("Memcpy HtoD", copy, "h200", "a100"), 100);
  EXPECT_GT(moved("Memcpy DtoD", copy, "h200", "a100"), 200);
  RecordedShape host{.time = microseconds(100), .lds = {}};
  host.host = true;
  EXPECT_EQ(moved("host", host, "h200", "a100"), 100);
}

TEST(MovedKernels, say_how_much_rests_on_which_model) {
  ModelGraph graph = graph_of("a", kernel_of(stream_of(mebibytes(64)), microseconds(60)));
  ModelOp op = graph.ops[OpId(0)];
  op.shape = kernel_of(attention_of(flops(1'000'000'000)), microseconds(10));
  graph.add(op);
  op.shape = RecordedShape{.time = microseconds(30), .lds = {}};
  graph.add(op);
  const MovedTimes moved = move_recorded(graph, on("a100"), on("h200").cluster.gpu);
  EXPECT_DOUBLE_EQ(moved_share(moved, MovedBy::model), 0.6);
  EXPECT_DOUBLE_EQ(moved_share(moved, MovedBy::roofline), 0.1);
  EXPECT_DOUBLE_EQ(moved_share(moved, MovedBy::nothing), 0.3);
  const std::string text = moved_text(moved, "H200", "A100");
  EXPECT_NE(text.find("60 % of their time by a model"), std::string::npos) << text;
  EXPECT_NE(text.find("30 % of their time as recorded"), std::string::npos) << text;
  EXPECT_EQ(moved_text({}, "H200", "A100"), "");
}

}  // namespace
}  // namespace weft::moved_kernels_test
