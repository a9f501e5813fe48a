// Whole models, from operators to results.
#include "sim/models/run_model.h"

#include <gtest/gtest.h>

#include "sim/models/build_model.h"
#include "sim/models/lower_model.h"
#include "sim/models/op_kernel.h"
#include "sim/models/streams.h"
#include "tests/unit/engine/simulated.h"
#include "tests/unit/models/hand_made.h"

namespace weft::run_model_test {
namespace {

Scenario nodes_of_four() {
  Scenario scenario = scenario_of(R"(
name: two nodes of four
cluster:
  base: clusters/node_4x_mi210
  nodes: 2
  nic: {base: nics/connectx6}
  scale_out: {shape: switch, link: {bandwidth: 200 Gb/s, latency: 700 ns}}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)");
  scenario.workload.kind = WorkloadKind::transformer;  // whose operators are made by hand here
  return scenario;
}

// Layers of tensor parallelism in each of the nodes.
HandMadeModel layers(int count, bool in_blocks) {
  HandMadeModel model;
  const PlaceId place = model.groups(0, 8, 4);
  for (int i = 0; i < count; ++i) {
    if (in_blocks) model.begin_block("layer " + std::to_string(i));
    model.add_layer(place, 4);
  }
  return model;
}

RunResult run_of(Scenario scenario, const ModelGraph& graph, Mode mode, bool folds) {
  scenario.run.repeats = folds ? Repeats::once : Repeats::each;
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelRun model(scenario, cluster, graph);
  return model.run(mode, {});
}

TEST(Models, compute_and_send_what_their_operators_ask_for) {
  const Scenario scenario = nodes_of_four();
  const HandMadeModel model = layers(3, false);
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    const RunResult result = run_of(scenario, model.graph, mode, false);
    EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
    EXPECT_TRUE(result.ledger.balanced());
    // 3 layers x 8 GPUs x two products of 1024 x 1024 x 1024, and sums of the reductions.
    EXPECT_GE(result.ledger.flops.done, std::int64_t{3} * 8 * 2 * 2 * 1024 * 1024 * 1024);
  }
}

TEST(Models, time_of_a_gpu_is_of_one_part_or_idle) {
  const Scenario scenario = nodes_of_four();
  const HandMadeModel model = layers(3, true);
  for (const bool folds : {false, true}) {
    const RunResult result = run_of(scenario, model.graph, Mode::bulk, folds);
    Duration sum = result.idle;
    for (const PartUse& part : result.parts) sum += part.computing + part.exposed;
    EXPECT_EQ(sum, result.time * 8);
  }
}

// Two stages: the second waits while the first computes, then a send of 1 MB takes 41.9 us at 25
// GB/s and some latency. Only that is communication, whichever way the model is run.
TEST(Models, a_stage_that_waits_for_another_is_idle_until_data_are_under_way) {
  const Scenario scenario = nodes_of_four();
  HandMadeModel model;
  const PlaceId first = model.groups(0, 1, 1);
  const PlaceId second = model.groups(4, 1, 1);
  Groups pair;
  pair.groups = {{0, 4}};
  const PlaceId both = model.graph.add_place(pair);
  model.begin_block("stage 0");
  const OpId made = model.add("layer", "mlp", product(8192, 8192, 4096), first, {});
  CommunicationShape call;
  call.op = CollectiveOp::point_to_point;
  call.buffer = bytes(1024 * 1024);
  call.root = 0;
  call.target = 1;
  model.begin_block("send");
  const OpId sent = model.add("send", "send", call, both, {made}, 1);
  model.begin_block("stage 1");
  model.add("layer", "mlp", product(8192, 8192, 4096), second, {sent});
  for (const bool folds : {false, true}) {
    const RunResult result = run_of(scenario, model.graph, Mode::bulk, folds);
    const GpuUse& waits = result.gpus[4];
    EXPECT_GT(waits.computing, microseconds(1000));
    EXPECT_GT(result.exposed(waits), microseconds(41)) << folds;
    EXPECT_LT(result.exposed(waits), microseconds(100)) << folds;
    // The other layer's time, and that in which this one waits at the end.
    EXPECT_GT(result.time - waits.active, waits.computing - microseconds(200)) << folds;
  }
}

TEST(Models, repeated_blocks_are_simulated_once) {
  const Cluster cluster = build_cluster(nodes_of_four().cluster);
  const HandMadeModel model = layers(5, true);
  const Folded folded = fold(model.graph, cluster);
  // The two nodes share no link, and all layers are alike.
  EXPECT_EQ(folded.pieces.size(), 1U);
  ASSERT_EQ(folded.runs.size(), 10U);
  const auto strands = [&](std::size_t run) { return folded.runs[run].strands; };
  ASSERT_EQ(strands(1).size(), 1U);
  EXPECT_EQ(strands(1).front(),
            (std::vector<Entrance>{{.op = OpId(0), .first = true, .before = {}}}));
  // Its products wait for the last of those of the layer before, and for its sum.
  const std::vector<Before> before{{.run = 1, .op = OpId(1)}, {.run = 1, .op = OpId(2)}};
  ASSERT_EQ(strands(3).size(), 1U);
  EXPECT_EQ(strands(3).front().front(), (Entrance{.op = OpId(0), .first = true, .before = before}));
  EXPECT_EQ(folded.runs[3].node, 1U);
}

// Four nodes of two GPUs, two nodes a leaf.
Scenario leaves_of_two_nodes(const std::string& up_routing) {
  return scenario_of(R"(
name: four nodes of two
cluster:
  base: clusters/node_4x_mi210
  gpus_per_node: 2
  nodes: 4
  nic: {base: nics/connectx6, per_node: 2}
  scale_out:
    shape: fat_tree
    endpoints_per_leaf: 4
    up_routing: )" + up_routing +
                     R"(
    link: {bandwidth: 200 Gb/s, latency: 700 ns}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)");
}

// The same layer on the first two nodes, and on the other two.
HandMadeModel two_halves() {
  HandMadeModel halves;
  for (const std::uint32_t first : {0U, 4U}) {
    halves.begin_block("half " + std::to_string(first));
    halves.last.clear();
    halves.add_layer(halves.groups(first, 4, 4), 4);
  }
  return halves;
}

TEST(Models, pieces_of_several_nodes_are_alike_where_the_network_is) {
  const Scenario scenario = leaves_of_two_nodes("by_destination");
  const Cluster cluster = build_cluster(scenario.cluster);
  const HandMadeModel halves = two_halves();
  const Folded folded = fold(halves.graph, cluster);
  ASSERT_EQ(folded.pieces.size(), 1U);
  EXPECT_EQ(folded.runs[0].node, 0U);
  EXPECT_EQ(folded.runs[1].node, 2U);

  // To the picosecond, on every GPU and link.
  const RunResult once = run_of(scenario, halves.graph, Mode::bulk, true);
  const RunResult each = run_of(scenario, halves.graph, Mode::bulk, false);
  EXPECT_EQ(once.time, each.time);
  ASSERT_EQ(once.links.size(), each.links.size());
  for (std::size_t i = 0; i < once.links.size(); ++i) {
    EXPECT_EQ(once.links[i].use.carried, each.links[i].use.carried) << once.links[i].name;
    EXPECT_EQ(once.links[i].use.busy, each.links[i].use.busy) << once.links[i].name;
  }
  for (std::size_t i = 0; i < once.gpus.size(); ++i) {
    EXPECT_EQ(once.gpus[i].end, each.gpus[i].end) << i;
  }
}

TEST(Models, pieces_of_several_nodes_stay_where_routes_depend_on_it) {
  const HandMadeModel halves = two_halves();
  const Folded folded = fold(halves.graph, build_cluster(leaves_of_two_nodes("ecmp").cluster));
  EXPECT_EQ(folded.pieces.size(), 2U);
}

TEST(Models, what_happens_beside_a_straggler_is_a_piece_of_its_own) {
  // GPU 5 is in the second node: its layers are simulated where they are, the first node's alone.
  Scenario scenario = nodes_of_four();
  scenario.cluster.stragglers = {{.gpu = 5, .clock = 0.5, .memory = 1}};
  const HandMadeModel model = layers(4, true);
  const Folded folded = fold(model.graph, build_cluster(scenario.cluster));
  ASSERT_EQ(folded.pieces.size(), 2U);
  EXPECT_TRUE(folded.pieces[0].in_a_node);
  EXPECT_FALSE(folded.pieces[1].in_a_node);
  // Every layer waits for it: folded or not, the same. The other node does not.
  const RunResult once = run_of(scenario, model.graph, Mode::bulk, true);
  const RunResult each = run_of(scenario, model.graph, Mode::bulk, false);
  const RunResult sound = run_of(nodes_of_four(), model.graph, Mode::bulk, true);
  EXPECT_NEAR(to_microseconds(once.time), to_microseconds(each.time),
              0.01 * to_microseconds(each.time));
  EXPECT_GT(once.time * 2, sound.time * 3);
  EXPECT_EQ(once.gpus[0].end, sound.gpus[0].end);
}

TEST(Models, that_repeat_take_the_time_of_all_their_layers) {
  const Scenario scenario = nodes_of_four();
  const HandMadeModel model = layers(6, true);
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    const RunResult whole = run_of(scenario, model.graph, mode, false);
    const RunResult folded = run_of(scenario, model.graph, mode, true);
    EXPECT_NEAR(to_microseconds(folded.time), to_microseconds(whole.time),
                0.01 * to_microseconds(whole.time));
    EXPECT_EQ(folded.ledger.flops.done, whole.ledger.flops.done);
    EXPECT_EQ(folded.ledger.sent_bytes.done, whole.ledger.sent_bytes.done);
    EXPECT_EQ(folded.ledger.hbm_bytes.done, whole.ledger.hbm_bytes.done);
  }
}

// Two layers of a stage's way back, a block each, the gradients of the first summed over both nodes
// beside the second; then those of the second, and the optimiser.
HandMadeModel way_back(std::int64_t gradients) {
  HandMadeModel model;
  const PlaceId place = model.groups(0, 8, 4);
  const PlaceId copies = model.groups(0, 8, 8);
  CommunicationShape sum;
  sum.buffer = bytes(gradients);
  std::vector<OpId> ready;
  for (int i = 0; i < 4; ++i) {
    model.begin_block("layer " + std::to_string(i));
    if (i > 0) model.add("gradient_sum", "gradients", sum, copies, ready, 2);
    model.add_layer(place, 4);
    ready = model.last;
  }
  model.begin_block("last sum");
  const OpId last = model.add("gradient_sum", "gradients", sum, copies, ready, 2);
  model.begin_block("optimiser");
  model.add("optimizer", "optimizer", product(256, 256, 256), place, {last});
  return model;
}

TEST(Models, strands_are_what_may_begin_apart) {
  const HandMadeModel model = way_back(1 << 20U);
  const Folded folded = fold(model.graph, build_cluster(nodes_of_four().cluster));
  // The first layer waits for nothing in one strand; the second has its sum besides.
  EXPECT_EQ(folded.runs[0].strands.size(), 1U);
  EXPECT_EQ(folded.runs[2].strands.size(), 2U);
}

TEST(Models, gradients_that_fit_beside_the_way_back_join_nothing) {
  const Scenario scenario = nodes_of_four();
  const HandMadeModel model = way_back(1024);
  const RunResult once = run_of(scenario, model.graph, Mode::bulk, true);
  const RunResult each = run_of(scenario, model.graph, Mode::bulk, false);
  EXPECT_LT(once.events, each.events);
  EXPECT_NEAR(to_microseconds(once.time) / to_microseconds(each.time), 1, 0.01);
}

TEST(Models, gradients_that_outlast_the_way_back_do_not_hold_it_up) {
  // 64 MiB over NICs of 25 GB/s: each sum takes many times as long as a layer. One behind the
  // other they are the step; a layer that waited for the sum beside it would come on top.
  const Scenario scenario = nodes_of_four();
  const HandMadeModel model = way_back(64 << 20U);
  const RunResult once = run_of(scenario, model.graph, Mode::bulk, true);
  const RunResult each = run_of(scenario, model.graph, Mode::bulk, false);
  EXPECT_NEAR(to_microseconds(once.time) / to_microseconds(each.time), 1, 0.01);
  EXPECT_EQ(once.ledger.hbm_bytes.done, each.ledger.hbm_bytes.done);
  Duration sum = once.idle;
  for (const PartUse& part : once.parts) sum += part.computing + part.exposed;
  EXPECT_EQ(sum, once.time * 8);
  Duration path = once.path_gaps;
  for (const OperatorUse& use : once.operators) path += use.critical;
  EXPECT_EQ(path, once.time);
}

TEST(Models, what_is_joined_keeps_to_max_memory) {
  Scenario scenario = nodes_of_four();
  const HandMadeModel model = way_back(64 << 20U);
  scenario.run.max_memory = bytes(1);
  const RunResult refused = run_of(scenario, model.graph, Mode::bulk, true);
  EXPECT_EQ(refused.ending, Ending::memory_limit);
  EXPECT_NE(refused.stopped_because.find("run.max_memory"), std::string::npos);
}

TEST(Models, pairs_that_fuse_are_found_and_ranked) {
  const Scenario scenario = nodes_of_four();
  const Cluster cluster = build_cluster(scenario.cluster);
  const HandMadeModel model = layers(6, true);
  ModelRun run(scenario, cluster, model.graph);
  const std::vector<Candidate> candidates = run.candidates();
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].name, "down + reduce");
  EXPECT_EQ(candidates[0].pattern, WorkloadKind::gemm_all_reduce);
  EXPECT_EQ(candidates[0].obstacle, "");
  EXPECT_EQ(candidates[0].times, 6);
  EXPECT_GT(candidates[0].bulk, Duration{});
}

TEST(Models, what_runs_beside_it_is_hidden) {
  // A gradient's all-reduce on a stream of its own beside a long product: the step takes as long
  // as the product, and a little more where both want the memory.
  const Scenario scenario = nodes_of_four();
  HandMadeModel model;
  const PlaceId place = model.groups(0, 8, 8);
  CommunicationShape sum;
  sum.op = CollectiveOp::all_reduce;
  sum.buffer = bytes(4 << 20U);
  model.add("product", "mlp", product(8192, 8192, 4096), place, {});
  const RunResult alone = run_of(scenario, model.graph, Mode::bulk, false);
  model.add("gradients", "all_reduce", sum, place, {}, 2);
  const RunResult both = run_of(scenario, model.graph, Mode::bulk, false);
  EXPECT_LT(to_microseconds(both.time), 1.1 * to_microseconds(alone.time));
}

TEST(Models, run_on_one_gpu_without_a_message) {
  for (const char* workload :
       {"{base: models/llama3_8b, model: {layers: 2}, phase: training, sequences: 2, "
        "sequence_length: 256, microbatch: 1}",
        "{base: models/mixtral_8x7b, model: {layers: 1}, phase: prefill, sequences: 1, "
        "sequence_length: 256, microbatch: 1}",
        "{base: models/dlrm_public_128, phase: training, batch: 256, tables_per_gpu: 2}"}) {
    const Scenario scenario = scenario_of(
        "{name: alone, cluster: {base: clusters/node_4x_mi210, gpus_per_node: 1, "
        "gpu: {memory: {capacity: 100 TB}}}, workload: " +
        std::string(workload) + "}");
    const ModelGraph graph = build_model(scenario);
    for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
      const RunResult result = run_of(scenario, graph, mode, true);
      EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
      EXPECT_TRUE(result.ledger.balanced());
      EXPECT_EQ(result.ledger.messages.done, 0);
      EXPECT_GT(result.time, Duration{});
    }
  }
}

// --- kernels that stream

GpuSpec h200() { return scenario_of_file("scenarios/embedding_a2a_4x_h200.yaml").cluster.gpu; }

std::vector<std::uint32_t> counts_of(const OpKernel& kernel) {
  std::vector<std::uint32_t> counts;
  counts.reserve(kernel.runs.size());
  for (const OpKernel::Run& run : kernel.runs) counts.push_back(run.count);
  return counts;
}

TEST(StreamKernels, of_an_optimizer_have_chunks_in_kernels_of_320) {
  // 320 chunks of fp32: 512 threads of 60 registers are two WGs on each of 132 SMs, 264 places, of
  // which 56 get a second chunk. A chunk alone: 32 turns of 410 + 2 x 44 ns, and 610 of arithmetic.
  const std::int64_t weights = 320 * kChunk;
  StreamShape shape{.read = bytes(weights * 16), .written = bytes(weights * 12), .flops = {}};
  shape.chunks = 320;
  const OpKernel one = op_kernel(shape, h200(), 0);
  EXPECT_EQ(counts_of(one), (std::vector<std::uint32_t>{56, 208}));
  EXPECT_EQ(one.works[1].memory_alone, nanoseconds(32 * (498 + 610)));
  EXPECT_EQ(one.works[0].memory_alone, nanoseconds(2 * 32 * (498 + 610)));
  EXPECT_EQ(one.works[1].traffic, bytes(kChunk * 28));
  EXPECT_EQ(one.works[1].fixed, Duration{});
  // Twice as many: two kernels, the second a launch later.
  StreamShape twice{.read = bytes(weights * 32), .written = bytes(weights * 24), .flops = {}};
  twice.chunks = 640;
  const OpKernel two = op_kernel(twice, h200(), 0);
  EXPECT_EQ(counts_of(two), (std::vector<std::uint32_t>{56, 208}));
  EXPECT_EQ(two.works[0].memory_alone, nanoseconds(4 * 32 * (498 + 610)));
  EXPECT_EQ(two.works[0].fixed, h200().launch.queue);
  // Few: a place each.
  StreamShape few{.read = bytes(3 * kChunk * 16), .written = bytes(3 * kChunk * 12), .flops = {}};
  few.chunks = 3;
  EXPECT_EQ(counts_of(op_kernel(few, h200(), 0)), (std::vector<std::uint32_t>{3}));
}

TEST(StreamKernels, down_columns_have_an_element_of_each_tensor_in_flight) {
  // 132 x 8 WGs of 256 threads with two loads of 2 B: 1 KiB a WG. 1,056 x 64 KiB read: 64 waits of
  // 410 + 44 ns each.
  const std::int64_t elements = 1056 * 64 * 1024 / 4;
  const StreamShape shape =
      stream_of({.elements = elements, .read = 2, .down_columns = true}, DataType::bf16);
  const OpKernel kernel = op_kernel(shape, h200(), 0);
  EXPECT_EQ(counts_of(kernel), (std::vector<std::uint32_t>{1056}));
  EXPECT_EQ(kernel.works[0].memory_alone, nanoseconds(64 * 454));
}

TEST(StreamKernels, take_as_long_as_their_instructions) {
  // 1,056 x 65,536 elements of 100 instructions; a WG of 8 waves alone has its SM, which does half
  // of 66.9 TFLOP/s / 132 of them: 6,553,600 / 253.4 G = 25.862 us. They are no operations.
  const StreamShape shape =
      stream_of({.elements = 1056 * 65'536, .read = 1, .instructions = 100}, DataType::bf16);
  const OpKernel kernel = op_kernel(shape, h200(), 0);
  EXPECT_NEAR(to_microseconds(kernel.works[0].arithmetic_alone), 25.862, 0.001);
  EXPECT_EQ(kernel.works[0].flops, Flops{});
}

}  // namespace
}  // namespace weft::run_model_test
