// The time below which no mode can be, by hand.
#include "sim/models/lower_bound.h"

#include <gtest/gtest.h>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/run_model.h"
#include "tests/unit/models/built.h"
#include "tests/unit/models/hand_made.h"

namespace weft::lower_bound_test {
namespace {

using models_testing::scenario_of;

// 2 x 1000 x 500 x 1000 FLOP at 1 TFLOP/s: 1 ms.
const GemmShape kMillisecond = product(1000, 500, 1000);
const GpuSpec kGpu = [] {
  GpuSpec gpu;
  gpu.bf16_matrix = FlopRate::from_count(1'000'000'000'000);
  gpu.fp8_matrix = FlopRate::from_count(2'000'000'000'000);
  return gpu;
}();

CommunicationShape collective(CollectiveOp op) {
  CommunicationShape call;
  call.op = op;
  call.buffer = bytes(1'000'000);
  return call;
}

TEST(LowerBound, is_all_products_of_a_gpu_at_the_peak) {
  HandMadeModel model;
  const PlaceId both = model.groups(0, 2, 1);
  model.add("one", "mlp", kMillisecond, both, {});
  model.add("other", "mlp", kMillisecond, both, {});
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, kGpu), 2000);
}

TEST(LowerBound, of_fp8_is_half_of_that_of_bf16) {
  GemmShape small = kMillisecond;
  small.fp8 = Fp8Scales::tensor;
  HandMadeModel model;
  model.add("one", "mlp", small, model.groups(0, 2, 1), {});
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, kGpu), 500);
}

// The second stage waits for the first; a stage's own products are one after the other.
TEST(LowerBound, has_a_pipelines_bubble) {
  HandMadeModel model;
  const PlaceId first = model.groups(0, 1, 1);
  const PlaceId second = model.groups(1, 1, 1);
  const PlaceId ends = model.groups(0, 2, 2);
  for (int microbatch = 0; microbatch < 3; ++microbatch) {
    const OpId made = model.add("forward", "mlp", kMillisecond, first, {});
    const OpId sent =
        model.add("send", "p2p", collective(CollectiveOp::point_to_point), ends, {made}, 1);
    model.add("forward", "mlp", kMillisecond, second, {sent});
  }
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, kGpu), 4000);  // m + p - 1 of them
}

// What follows a collective may be fused with it, so it need not wait for the other GPU.
TEST(LowerBound, does_not_wait_for_what_may_be_fused) {
  HandMadeModel model;
  const OpId made = model.add("made", "mlp", kMillisecond, model.groups(0, 1, 1), {});
  const OpId gathered = model.add("gather", "all_gather", collective(CollectiveOp::all_gather),
                                  model.groups(0, 2, 2), {made}, 1);
  model.add("next", "mlp", kMillisecond, model.groups(1, 1, 1), {gathered});
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, kGpu), 1000);
}

TEST(LowerBound, of_uneven_experts_is_the_fullest_gpus) {
  GemmShape uneven = kMillisecond;
  uneven.m_by_rank = {500, 3000};
  HandMadeModel model;
  model.add("experts", "experts", uneven, model.groups(0, 2, 2), {});
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, kGpu), 3000);
}

// 1000 rows in all, as kMillisecond has, of three experts.
TEST(LowerBound, of_products_of_several_sizes_is_that_of_all_rows) {
  GemmShape grouped = kMillisecond;
  grouped.batch = 3;
  grouped.grouped = true;
  grouped.m_of_each = {100, 0, 900};
  HandMadeModel model;
  model.add("experts", "experts", grouped, model.groups(0, 2, 1), {});
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, kGpu), 1000);
}

// Its kernel multiplies at bf16's rate, and of few queries only reads.
TEST(LowerBound, of_attention_does_not_depend_on_its_type) {
  AttentionShape attention{.heads = 1, .kv_heads = 1, .head_dim = 64, .value_head_dim = 64};
  attention.queries = attention.keys = 1024;
  const auto bound = [&] {
    HandMadeModel model;
    model.add("attention", "attention", attention, model.groups(0, 2, 1), {});
    return lower_bound_us(model.graph, kGpu);
  };
  const double of_bf16 = bound();
  EXPECT_GT(of_bf16, 0);
  attention.dtype = DataType::fp32;
  EXPECT_DOUBLE_EQ(bound(), of_bf16);
  attention.queries = 1;
  EXPECT_EQ(bound(), 0);
}

// 1 MB read and 1 MB written at 1 GB/s: 2 ms.
TEST(LowerBound, has_what_streams_through_memory) {
  StreamShape norm;
  norm.read = bytes(1'000'000);
  norm.written = bytes(1'000'000);
  GpuSpec gpu = kGpu;
  gpu.memory.bandwidth = bytes_per_second(1'000'000'000);
  HandMadeModel model;
  model.add("norm", "norm", norm, model.groups(0, 2, 1), {});
  EXPECT_DOUBLE_EQ(lower_bound_us(model.graph, gpu), 2000);
}

// A step of a model on GPUs that are alike: at least its share of all products, and no run of it in
// any mode is shorter.
TEST(LowerBound, of_a_model_is_between_its_products_and_its_runs) {
  const Scenario scenario = scenario_of(
      "{kind: transformer, phase: training, model: {layers: 2, hidden: 256, heads: 8, inner: 512, "
      "vocabulary: 1000}, sequence_length: 64, sequences: 16, microbatch: 2, parallel: {tensor: 2, "
      "pipeline: 2, data: 2}}",
      1);
  const ModelGraph graph = build_model(scenario);
  const Cluster cluster = build_cluster(scenario.cluster);
  const double peak = static_cast<double>(scenario.cluster.gpu.bf16_matrix.count());
  const double bound = lower_bound_us(graph, scenario.cluster.gpu);
  EXPECT_GT(bound, product_flops(graph) / 8 / peak * 1e6);
  ModelRun run(scenario, cluster, graph);
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    EXPECT_LT(bound, to_seconds(run.run(mode, {}).time) * 1e6);
  }
}

// Two stages, two microbatches: the first has the embedding and layer 0, the
// second layer 1, twice as long, and the head. The optimiser is in none.
TEST(ChainOf, a_pipeline_is_its_layers_and_what_is_before_and_behind_them) {
  GemmShape twice = kMillisecond;
  twice.n *= 2;
  HandMadeModel model;
  const PlaceId first = model.groups(0, 1, 1);
  const PlaceId second = model.groups(1, 1, 1);
  for (int microbatch = 0; microbatch < 2; ++microbatch) {
    model.begin_block("embedding");
    model.add("embedding", "embedding", kMillisecond, first, {});
    model.begin_block("forward of layer 0", 0);
    model.add("up", "mlp", kMillisecond, first, {});
    model.begin_block("forward of layer 1", 1);
    model.add("up", "mlp", twice, second, {});
    model.begin_block("head");
    model.add("head", "head", twice, second, {});
    model.add("loss", "head", kMillisecond, second, {});
  }
  model.begin_block("gradients");
  model.add("optimizer", "optimizer", kMillisecond, first, {});
  const Chain chain = chain_of(model.graph, kGpu, 1);
  EXPECT_EQ(chain.before, microseconds(2'000));
  EXPECT_EQ(chain.layers, (std::vector{microseconds(2'000), microseconds(4'000)}));
  EXPECT_EQ(chain.after, microseconds(6'000));
}

}  // namespace
}  // namespace weft::lower_bound_test
