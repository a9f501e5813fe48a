// What copies of a decoder share (parallel.shard), by hand: stages 2 and 3 of ZeRO.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/models/run_model.h"
#include "sim/models/streams.h"
#include "tests/unit/models/built.h"

namespace weft::sharding_test {
namespace {

using models_testing::buffer_of;
using models_testing::first_named;
using models_testing::names_after;
using models_testing::ops_named;
using models_testing::problems_of;
using models_testing::scenario_of;
using Names = std::vector<std::string>;

// Eight copies; two microbatches with `sequences: 32`.
std::string tiny(const std::string& parallel, const std::string& sequences = "16") {
  return "{kind: transformer, model: {layers: 3, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
         "vocabulary: 1000}, sequence_length: 32, microbatch: 2, phase: training, sequences: " +
         sequences + ", parallel: {data: 8, " + parallel + "}}";
}
ModelGraph graph_of(const std::string& workload) { return build_model(scenario_of(workload, 1)); }

// Queries and output, keys and values, three matrices, two norms; vocabulary twice and a norm.
constexpr std::int64_t kLayer = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
constexpr std::int64_t kRoot = 2 * 64 * 1000 + 64;

std::string block_of(const ModelGraph& graph, const ModelOp& op) {
  return graph.blocks[op.block].name;
}
const StreamShape& stream_in(const ModelOp& op) { return std::get<StreamShape>(op.shape); }

// Embedding and head once, 3 layers forward and again backward, 2 B each: a GPU receives 7/8.
TEST(Sharding, parameters_are_gathered_before_each_use) {
  const ModelGraph graph = graph_of(tiny("shard: parameters"));
  const std::vector<const ModelOp*> gathers = ops_named(graph, "parameter_gather");
  ASSERT_EQ(gathers.size(), 1U + 2 * 3);
  EXPECT_EQ(buffer_of(*gathers[0]), bytes(kRoot * 2));
  for (std::size_t i = 1; i < gathers.size(); ++i) {
    EXPECT_EQ(buffer_of(*gathers[i]), bytes(kLayer * 2));
    EXPECT_EQ(gathers[i]->stream, kParameters);
  }
  // A GPU's fp32 copy of its eighth becomes bf16; all of it is read and written once more.
  const StreamShape& in = stream_in(*ops_named(graph, "parameter_copy_in")[1]);
  EXPECT_EQ(in.read, bytes(kLayer / 8 * 4));
  EXPECT_EQ(in.written, bytes(kLayer / 8 * 2));
  const StreamShape& out = stream_in(*ops_named(graph, "parameter_copy_out")[1]);
  EXPECT_EQ(out.read, bytes(kLayer * 2));
  EXPECT_EQ(out.written, bytes(kLayer * 2));
  // Kept, they are not gathered again.
  const ModelGraph kept = graph_of(tiny("shard: parameters, reshard_after_forward: false"));
  EXPECT_EQ(ops_named(kept, "parameter_gather").size(), 1U + 3);
  EXPECT_EQ(ops_named(kept, "parameter_copy_out").size(), 1U + 3);
}

// The gather of the layer `prefetch` ahead begins with a layer, when the one before has computed.
TEST(Sharding, gathers_run_as_far_ahead_as_asked_for) {
  const auto blocks = [](const std::string& prefetch) {
    const ModelGraph graph = graph_of(tiny("shard: parameters, prefetch: " + prefetch));
    Names names;
    for (const ModelOp* gather : ops_named(graph, "parameter_gather")) {
      names.push_back(
          block_of(graph, *gather).substr(std::string("stage 0, microbatch 0: ").size()));
    }
    return names;
  };
  EXPECT_EQ(blocks("0"),
            (Names{"embedding", "forward of layer 0", "forward of layer 1", "forward of layer 2",
                   "backward of layer 2", "backward of layer 1", "backward of layer 0"}));
  EXPECT_EQ(blocks("1"),
            (Names{"embedding", "embedding", "forward of layer 0", "forward of layer 1",
                   "backward of the head", "backward of layer 2", "backward of layer 1"}));
  EXPECT_EQ(blocks("9"),
            (Names{"embedding", "embedding", "embedding", "embedding", "backward of the head",
                   "backward of the head", "backward of the head"}));
  const ModelGraph graph = graph_of(tiny("shard: parameters"));
  const ModelOp& ahead = *ops_named(graph, "parameter_copy_in")[2];  // of layer 1
  EXPECT_EQ(names_after(graph, ahead), Names{"token_embedding"});
  const ModelOp& used = *ops_named(graph, "parameter_copy_out")[2];
  EXPECT_EQ(names_after(graph, used), Names{"parameter_gather"});
  EXPECT_EQ(block_of(graph, used), "stage 0, microbatch 0: forward of layer 1");
}

// bf16 gradients become fp32 for the sum; of which each GPU keeps an eighth.
TEST(Sharding, gradients_are_scattered_layer_by_layer_and_updated_where_they_are) {
  const ModelGraph graph = graph_of(tiny("shard: parameters"));
  const std::vector<const ModelOp*> sums = ops_named(graph, "gradient_sum");
  ASSERT_EQ(sums.size(), 3U + 1);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(sums[i]->part, "reduce_scatter");
    EXPECT_EQ(buffer_of(*sums[i]), bytes((i < 3 ? kLayer : kRoot) * 4));
    EXPECT_EQ(names_after(graph, *sums[i]), Names{"gradient_copy_in"});
  }
  EXPECT_EQ(block_of(graph, *sums[0]), "stage 0, microbatch 0: backward of layer 1");
  const std::vector<const ModelOp*> copies = ops_named(graph, "gradient_copy_in");
  EXPECT_EQ(stream_in(*copies[1]).read, bytes(kLayer * 2));
  EXPECT_EQ(stream_in(*copies[1]).written, bytes(kLayer * 4));
  // The buffer of one sum is free when the one before has ended.
  EXPECT_EQ(names_after(graph, *copies[1]), Names{"gradient_sum"});
  EXPECT_TRUE(names_after(graph, *copies[0]).empty());
  // 3 states of 4 B and a gradient of 4 B are read; no weights besides are written.
  const std::int64_t own = (3 * kLayer + kRoot + 7) / 8;
  EXPECT_EQ(stream_in(first_named(graph, "optimizer")).read, bytes(own * 16));
  EXPECT_EQ(stream_in(first_named(graph, "optimizer")).written, bytes(own * 12));
  EXPECT_EQ(graph.ops[OpId(static_cast<std::uint32_t>(graph.ops.size() - 1))].name, "optimizer");
}

// Each microbatch's are scattered; a GPU adds its eighth to that of the microbatches before. The
// next one begins when all sums have ended.
TEST(Sharding, gradients_of_each_microbatch_are_scattered) {
  for (const std::string shard : {"gradients", "parameters"}) {
    const ModelGraph graph = graph_of(tiny("shard: " + shard, "32"));
    const std::size_t units = shard == "gradients" ? 5 : 4;  // head and embedding apart
    EXPECT_EQ(ops_named(graph, "gradient_sum").size(), 2 * units);
    const std::vector<const ModelOp*> adds = ops_named(graph, "gradient_sum_add");
    ASSERT_EQ(adds.size(), units);
    EXPECT_EQ(stream_in(*adds[1]).read, bytes(kLayer / 8 * 2 * 4));
    EXPECT_EQ(stream_in(*adds[1]).written, bytes(kLayer / 8 * 4));
    EXPECT_TRUE(ops_named(graph, "qkv_weight_gradient_add").empty());
    EXPECT_FALSE(std::get<GemmShape>(first_named(graph, "qkv_weight_gradient").shape).accumulates);
    EXPECT_EQ(names_after(graph, first_named(graph, "optimizer")), Names{"gradient_sum_add"});
    const char* first = shard == "gradients" ? "token_embedding" : "parameter_copy_in";
    const std::vector<const ModelOp*> begins = ops_named(graph, first);
    if (shard == "gradients") {
      EXPECT_EQ(names_after(graph, *begins[1]), Names{"gradient_sum"});
    } else {
      EXPECT_EQ(names_after(graph, *begins[7]), (Names{"gradient_copy_in", "gradient_sum"}));
    }
  }
}

// Without parameters sharded, all are gathered once, after the optimiser.
TEST(Sharding, of_gradients_gathers_parameters_after_the_optimiser) {
  const ModelGraph graph = graph_of(tiny("shard: gradients", "32"));
  Bytes gathered;
  for (const ModelOp* gather : ops_named(graph, "parameter_gather")) {
    gathered += buffer_of(*gather);
    EXPECT_EQ(names_after(graph, *gather), Names{"optimizer"});
  }
  EXPECT_EQ(gathered, bytes((3 * kLayer + kRoot) * 2));
}

// 8 experts on 4 GPUs: those have another copy each, all other weights eight.
TEST(Sharding, experts_are_gathered_where_their_copies_are) {
  const ModelGraph graph = graph_of(
      "{kind: moe, model: {layers: 2, hidden: 64, heads: 8, vocabulary: 1000}, moe: {experts: 8, "
      "top_k: 2, inner: 32}, sequence_length: 32, microbatch: 2, phase: training, sequences: 16, "
      "parallel: {data: 8, expert: 4, shard: parameters}}");
  const ModelOp& gather = first_named(graph, "expert_parameter_gather");
  EXPECT_EQ(buffer_of(gather), bytes(8 / 4 * 3 * 64 * 32 * 2));
  EXPECT_EQ(graph.places[gather.place].groups.front(), (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(ops_named(graph, "expert_parameter_gather").size(), 2U * 2);
  EXPECT_EQ(ops_named(graph, "parameter_gather").size(), 1U + 2 * 2);
  EXPECT_EQ(names_after(graph, *ops_named(graph, "parameter_copy_out")[1]),
            (Names{"parameter_gather", "expert_parameter_gather"}));
}

RunResult run_of(const std::string& workload, Bandwidth link) {
  Scenario scenario = scenario_of(workload, 1);
  scenario.cluster.scale_up->link.bandwidth = link;
  const Cluster cluster = build_cluster(scenario.cluster);
  const RunResult result = ModelRun(scenario, cluster, build_model(scenario)).run(Mode::bulk, {});
  EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
  return result;
}

// Layers of 4 x 1024 x 1024 + 3 x 1024 x 4096 + 2 x 1024 = 16.78 M parameters, embedding and head
// 16.39 M. Over links of 1 GB/s, of which a GPU receives 7/8: gathers of 2 x 4 x 33.56 + 32.77 MB
// and sums of 4 x 67.12 + 65.54 MB take 555.8 ms, beside which all else is short.
TEST(Sharding, over_slow_links_a_step_is_its_gathers_and_sums) {
  const RunResult result = run_of(
      "{kind: transformer, model: {layers: 4, hidden: 1024, heads: 8, inner: 4096, vocabulary: "
      "8000}, phase: training, sequences: 8, sequence_length: 1024, microbatch: 1, parallel: "
      "{data: 8, shard: parameters}}",
      gigabytes_per_second(1));
  EXPECT_NEAR(to_microseconds(result.time), 555'800, 3'000);
}

// Layers of 67.1 M parameters are gathered in 134 MB x 7/8 / 350 GB/s = 0.34 ms and summed in 0.67,
// and compute for longer. With next to no embedding, the first gather of either pass and the last
// layer's sum have nothing beside them: 1.34 ms. `prefetch: 0` waits for four gathers more.
TEST(Sharding, over_fast_links_only_the_first_gathers_and_the_last_sum_are_exposed) {
  const auto run = [](const std::string& prefetch) {
    return run_of(
        "{kind: transformer, model: {layers: 3, hidden: 2048, heads: 16, inner: 8192, vocabulary: "
        "1000}, phase: training, sequences: 8, sequence_length: 4096, microbatch: 1, parallel: "
        "{data: 8, shard: parameters, prefetch: " +
            prefetch + "}}",
        gigabytes_per_second(350));
  };
  const RunResult ahead = run("1");
  EXPECT_NEAR(to_microseconds(ahead.exposed_mean()), 1'340, 200);
  const RunResult late = run("0");
  EXPECT_GT(to_microseconds(late.time), to_microseconds(ahead.time) + 4 * 330);
}

TEST(Sharding, the_older_key_is_the_first_step) {
  const auto text = [](const std::string& parallel) {
    return to_text(scenario_of(tiny(parallel), 1));
  };
  EXPECT_EQ(text("shard: optimizer"), text("sharded_optimizer: true"));
  EXPECT_EQ(text("shard: none"), text("sharded_optimizer: false"));
  EXPECT_EQ(text("shard: none").find("shard:"), std::string::npos);
}

// Llama 3 8B, 8.03 G parameters on 8 GPUs. Parameters: an eighth of 4 B of gradients and 12 B of
// the optimiser's, 16.06 GB, and 2 B of 1.05 G of embedding and head and of two layers of 0.22 G.
// Kept whole: of all. Gradients: 2 B of all besides 16.06 GB. Activations and logits are 0.17 GB.
TEST(Sharding, divides_what_a_gpu_must_hold) {
  const auto takes = [](const std::string& parallel) {
    const std::string text =
        "{name: a, cluster: {base: clusters/node_8x_h100, gpu: {memory: {capacity: 1 GB}}}, "
        "workload: {base: models/llama3_8b, phase: training, sequences: 8, sequence_length: 32, "
        "microbatch: 1, parallel: {data: 8, " +
        parallel + "}}}";
    const Loaded loaded = load_scenario_text(text, "a.yaml", models_testing::shipped_configs());
    const std::string problems = loaded.problems.to_text();
    const std::size_t at = problems.find("takes ");
    return problems.substr(at, problems.find(" of a GPU") - at);
  };
  EXPECT_EQ(takes("shard: parameters"), "takes 19.2 GB");
  EXPECT_EQ(takes("shard: parameters, reshard_after_forward: false"), "takes 32.3 GB");
  EXPECT_EQ(takes("shard: gradients"), "takes 32.3 GB");
  EXPECT_EQ(takes("shard: optimizer"), "takes 60.4 GB");
  EXPECT_EQ(takes("shard: none"), "takes 145 GB");
}

// Two groups of four neighbours: parts are quarters, gathered and scattered in the groups, and each
// GPU's quarter is summed with that of its counterpart, on a stream of its own.
TEST(Sharding, in_groups_of_copies_is_summed_across_groups) {
  const ModelGraph graph = graph_of(tiny("shard: parameters, shard_copies: 4"));
  const auto place_of = [&](const std::string& name) {
    return graph.places[first_named(graph, name).place].groups;
  };
  using Groups = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(place_of("parameter_gather"), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(place_of("gradient_sum"), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(place_of("gradient_sum_across"), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  const std::vector<const ModelOp*> across = ops_named(graph, "gradient_sum_across");
  ASSERT_EQ(across.size(), 3U + 1);
  EXPECT_EQ(across[0]->part, "all_reduce");
  EXPECT_EQ(buffer_of(*across[0]), bytes(kLayer / 4 * 4));
  EXPECT_EQ(across[0]->stream, kAcrossGroups);
  EXPECT_EQ(names_after(graph, *across[0]), Names{"gradient_sum"});
  // The next layer's copy needs the buffer, which the scattering has read by then.
  EXPECT_EQ(names_after(graph, *ops_named(graph, "gradient_copy_in")[1]), Names{"gradient_sum"});
  EXPECT_EQ(names_after(graph, first_named(graph, "optimizer")), Names{"gradient_sum_across"});
  const std::int64_t own = (3 * kLayer + kRoot + 3) / 4;
  EXPECT_EQ(stream_in(first_named(graph, "optimizer")).written, bytes(own * 12));
  // Of an optimiser only, parameters are gathered in the groups after it.
  const ModelGraph optimizer = graph_of(tiny("shard: optimizer, shard_copies: 2"));
  EXPECT_EQ(buffer_of(first_named(optimizer, "gradient_sum_across")).count(),
            buffer_of(first_named(optimizer, "gradient_sum")).count() / 2);
  EXPECT_EQ(names_after(optimizer, first_named(optimizer, "parameter_gather")), Names{"optimizer"});
}

// Eight copies, each expert on every second GPU. In groups of four copies two GPUs share an expert
// and sum theirs with those of the other group; in groups of two nobody shares it, and all four
// sum.
TEST(Sharding, in_groups_of_copies_shares_experts_among_those_of_a_group) {
  const auto of = [](const std::string& group) {
    return graph_of(
        "{kind: moe, phase: training, model: {layers: 2, hidden: 64, heads: 8, vocabulary: 1000}, "
        "moe: {experts: 8, top_k: 2, inner: 32}, sequence_length: 32, microbatch: 1, sequences: 8, "
        "parallel: {data: 8, expert: 2, shard: parameters, shard_copies: " +
        group + "}}");
  };
  using Groups = std::vector<std::vector<std::uint32_t>>;
  constexpr std::int64_t kExperts = 8 / 2 * 3 * 64 * 32;  // of a layer, on a GPU
  const ModelGraph four = of("4");
  const auto place_of = [](const ModelGraph& graph, const std::string& name) {
    return graph.places[first_named(graph, name).place].groups;
  };
  EXPECT_EQ(place_of(four, "expert_parameter_gather"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(place_of(four, "expert_gradient_sum"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(place_of(four, "expert_gradient_sum_across"), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(buffer_of(first_named(four, "expert_gradient_sum_across")), bytes(kExperts / 2 * 4));
  const ModelGraph two = of("2");
  EXPECT_TRUE(ops_named(two, "expert_parameter_gather").empty());
  EXPECT_TRUE(ops_named(two, "expert_gradient_sum").empty());
  EXPECT_EQ(place_of(two, "expert_gradient_sum_across"), (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(buffer_of(first_named(two, "expert_gradient_sum_across")), bytes(kExperts * 4));
}

// Groups of eight, one in each of four nodes: parameters stay in their node, and of a unit's
// gradient of G bytes each GPU sends 2 x 3/4 of G / 8 to its counterparts (an all-reduce of four by
// rings).
TEST(Sharding, in_nodes_sends_a_part_of_gradients_over_nics) {
  const Scenario scenario = scenario_of(
      "{kind: transformer, model: {layers: 3, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
      "vocabulary: 1000}, sequence_length: 32, microbatch: 1, phase: training, sequences: 32, "
      "parallel: {data: 32, shard: parameters, shard_copies: 8}}, collective: {algorithm: ring, "
      "protocol: simple}",
      4);
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  ModelRun model(scenario, cluster, graph);
  const RunResult result = model.run(Mode::bulk, {});
  Bytes across;
  for (const OperatorUse& use : result.operators) {
    if (use.name.starts_with("gradient_sum_across")) across += use.sent;
  }
  const double part = static_cast<double>(3 * kLayer + kRoot) / 8 * 4;
  EXPECT_NEAR(static_cast<double>(across.count()) / (32 * 2 * 0.75 * part), 1, 0.001);
}

// Two stages of two layers, four copies, four microbatches. Each part is gathered once, by its
// first forward pass, and stays; gradients are added up, and scattered after the last microbatch.
TEST(Sharding, a_pipeline_gathers_what_its_stages_have_once) {
  const auto of = [](const std::string& more) {
    return graph_of(
        "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
        "vocabulary: 1000}, sequence_length: 32, microbatch: 1, phase: training, sequences: 16, "
        "parallel: {data: 4, pipeline: 2, shard: parameters" +
        more + "}}");
  };
  const ModelGraph kept = of(", reshard_after_forward: false");
  const std::vector<const ModelOp*> gathers = ops_named(kept, "parameter_gather");
  ASSERT_EQ(gathers.size(), 2U * (1 + 2));
  EXPECT_EQ(buffer_of(*gathers[0]), bytes(64 * 1000 * 2));  // the embedding
  EXPECT_EQ(block_of(kept, *gathers[0]), "stage 0, microbatch 0: embedding");
  EXPECT_EQ(buffer_of(*gathers[3]), bytes((64 * 1000 + 64) * 2));  // the head and its norm
  EXPECT_EQ(block_of(kept, *gathers[3]), "stage 1, microbatch 0: forward of layer 2");
  const std::vector<const ModelOp*> sums = ops_named(kept, "gradient_sum");
  ASSERT_EQ(sums.size(), 4U + 2);
  for (const ModelOp* sum : sums) {
    EXPECT_EQ(std::get<CommunicationShape>(sum->shape).op, CollectiveOp::reduce_scatter);
    for (const char* before : {"microbatch 0", "microbatch 1", "microbatch 2"}) {
      EXPECT_EQ(block_of(kept, *sum).find(before), std::string::npos);
    }
  }
  EXPECT_EQ(ops_named(kept, "gradient_copy_in").size(), sums.size());
  EXPECT_TRUE(ops_named(kept, "gradient_sum_add").empty());
  // Freed after forward, and there after backward: 1F1B is F F B F B F B B on the first of two
  // stages, of which the third and fourth F and the last B find the two layers; F B four times on
  // the second, of which all F but the first do.
  EXPECT_EQ(ops_named(of(""), "parameter_gather").size(), 1U + 2 * (2 + 3) + 1U + 2 * (1 + 4));
}

// The second microbatch goes forward on the first stage, which waits for no other: its layer is
// gathered again when the first one's pass has ended, as PyTorch's root_pre_forward lets it.
TEST(Sharding, the_first_gather_of_a_pass_begins_with_it) {
  const ModelGraph graph = graph_of(
      "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
      "vocabulary: 1000}, sequence_length: 32, microbatch: 1, phase: training, sequences: 16, "
      "parallel: {data: 4, pipeline: 2, shard: parameters}}");
  const auto copies_in = [&](const std::string& block) {
    std::vector<const ModelOp*> copies = ops_named(graph, "parameter_copy_in");
    std::erase_if(copies, [&](const ModelOp* op) { return block_of(graph, *op) != block; });
    return copies;
  };
  const auto first = copies_in("stage 0, microbatch 0: embedding");
  ASSERT_FALSE(first.empty());
  EXPECT_TRUE(first[0]->after.empty());
  const auto again = copies_in("stage 0, microbatch 1: embedding");
  ASSERT_FALSE(again.empty());
  ASSERT_EQ(again[0]->after.size(), 1U);
  const ModelOp& before = graph.ops[again[0]->after[0]];
  EXPECT_EQ(before.name, "mlp_residual");
  EXPECT_EQ(block_of(graph, before), "stage 0, microbatch 0: forward of layer 1");
}

// A last part without layers: its head is gathered before it is used.
TEST(Sharding, a_part_with_the_head_alone_gathers_it_for_its_forward_pass) {
  const ModelGraph graph = graph_of(
      "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
      "vocabulary: 1000}, sequence_length: 32, microbatch: 1, phase: training, sequences: 8, "
      "parallel: {data: 4, pipeline: 2, last_layers: 0, shard: parameters}}");
  std::size_t in_head = 0;
  for (const ModelOp* copy : ops_named(graph, "parameter_copy_out")) {
    if (block_of(graph, *copy) == "stage 1, microbatch 0: head") ++in_head;
  }
  EXPECT_EQ(in_head, 1U);
}

// Sums come in blocks of their own then: a layer's block, whose copy waited for one, would as a
// whole begin after it.
TEST(Sharding, copies_of_gradients_wait_for_no_sum_with_virtual_stages) {
  const ModelGraph graph = graph_of(
      "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
      "vocabulary: 1000}, sequence_length: 32, microbatch: 1, phase: training, sequences: 16, "
      "parallel: {data: 4, pipeline: 2, schedule: interleaved, shard: parameters}}");
  const std::vector<const ModelOp*> copies = ops_named(graph, "gradient_copy_in");
  ASSERT_EQ(copies.size(), 4U + 2);
  for (const ModelOp* copy : copies) EXPECT_EQ(names_after(graph, *copy), Names{});
}

// As PyTorch's set_requires_gradient_sync: products add to the copy's own gradients.
TEST(Sharding, gradients_may_be_summed_after_the_last_microbatch_only) {
  const ModelGraph each = graph_of(tiny("shard: parameters", "32"));
  const ModelGraph last = graph_of(tiny("shard: parameters, gradient_sums: last", "32"));
  EXPECT_EQ(ops_named(each, "gradient_sum").size(), 2U * (3 + 1));
  EXPECT_EQ(ops_named(last, "gradient_sum").size(), 3U + 1);
  EXPECT_EQ(ops_named(last, "parameter_gather").size(), ops_named(each, "parameter_gather").size());
  EXPECT_FALSE(ops_named(each, "gradient_sum_add").empty());
  EXPECT_TRUE(ops_named(last, "gradient_sum_add").empty());
  // What is scattered was added up in fp32.
  EXPECT_EQ(stream_in(*ops_named(last, "gradient_copy_in")[0]).read,
            stream_in(*ops_named(last, "gradient_copy_in")[0]).written);
}

TEST(Sharding, needs_copies_of_a_whole_model) {
  const auto problems = [](const std::string& parallel, const std::string& more = "") {
    return problems_of(
        "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, inner: 256, vocabulary: "
        "1000}, phase: training, sequence_length: 32, microbatch: 1, sequences: 16, " +
            more + "parallel: {" + parallel + "}}",
        1);
  };
  EXPECT_EQ(problems("tensor: 8, shard: gradients"),
            (Names{"workload.parallel.shard: gradients: with parallel.data: 1 there is no other "
                   "copy to share them with; use more copies, or shard: none"}));
  EXPECT_EQ(problems("data: 4, pipeline: 2, shard: gradients"),
            (Names{"workload.parallel.shard: gradients: not in a pipeline, whose stages keep them "
                   "whole until the last microbatch, as DeepSpeed's do; use shard: optimizer, or "
                   "parameters"}));
  EXPECT_EQ(problems("data: 4, pipeline: 2, shard: parameters, gradient_sums: each"),
            (Names{"workload.parallel.gradient_sums: each: only with parallel.pipeline: 1, because "
                   "sums of every microbatch between the sends of a pipeline are not modelled; use "
                   "last, as PyTorch's pipelines do"}));
  EXPECT_EQ(problems("data: 8, shard: parameters", "gradient_bucket: 1 MiB, "),
            (Names{"workload.gradient_bucket: with parallel.shard: parameters gradients are summed "
                   "layer by layer, as parameters are gathered; remove it, or use shard: "
                   "gradients"}));
  EXPECT_EQ(problems("data: 8, shard: gradients, prefetch: 2"),
            (Names{"workload.parallel.prefetch: only for shard: parameters; remove it, or if it "
                   "comes from a base write 'prefetch: ~'"}));
  EXPECT_EQ(problems("data: 8, shard: parameters, shard_copies: 3"),
            (Names{"workload.parallel.shard_copies: 8 copies (context x data) do not divide into "
                   "groups of 3; nearest: 2 or 4"}));
  // Two GPUs of a group, and four have all experts; of the divisors of 8 only 4 will do.
  EXPECT_EQ(models_testing::problems_of(
                "{kind: moe, phase: training, model: {layers: 2, hidden: 64, heads: 8, vocabulary: "
                "1000}, moe: {experts: 8, top_k: 2, inner: 32}, sequence_length: 32, microbatch: "
                "1, sequences: 8, parallel: {data: 8, expert: 4, shard: parameters, shard_copies: "
                "2}}",
                1),
            (Names{"workload.parallel.shard_copies: a group of copies has 2 GPUs, which do not "
                   "divide into those that have all experts, 4 (expert x expert_tensor); possible: "
                   "4"}));
  EXPECT_EQ(problems("data: 8, shard_copies: 4"),
            (Names{"workload.parallel.shard_copies: only for shard above none; remove it, or if it "
                   "comes from a base write 'shard_copies: ~'"}));
  EXPECT_EQ(problems("data: 8, shard: parameters, sharded_optimizer: false"),
            (Names{"workload.parallel.shard: contradicts sharded_optimizer: false; remove that, or "
                   "if it comes from a base write 'sharded_optimizer: ~'"}));
}

}  // namespace
}  // namespace weft::sharding_test
