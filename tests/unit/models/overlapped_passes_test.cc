// A forward and a backward pass at once: who computes when, and what it brings.
#include "sim/models/overlapped_passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/models/run_model.h"
#include "sim/models/streams.h"
#include "tests/sanitized.h"
#include "tests/unit/models/built.h"
#include "tests/unit/models/hand_made.h"

namespace weft::overlapped_passes_test {
namespace {

using models_testing::names_of;
using models_testing::ops_named;
using models_testing::scenario_of;
using Names = std::vector<std::string>;

// Two GPUs; a pass of one block: `parts` products, with an exchange between each two.
class Passes {
 public:
  void pass(const std::string& name, int parts, bool overlaps_next) {
    steps_.push_back({model_.graph.ops.next_id(), overlaps_next});
    model_.begin_block(name);
    model_.last = {};
    for (int i = 0; i < parts; ++i) {
      const std::string number = std::to_string(i);
      const OpId made = model_.add(name + number, "mlp", product(64, 64, 64), place_, model_.last);
      if (i + 1 == parts) break;
      model_.last = {model_.add(name + "_exchange" + number, "all_reduce",
                                even_call(CollectiveOp::all_reduce, kibibytes(4)), place_, {made},
                                kCritical)};
    }
  }
  ModelGraph put_in_order() { return with_overlaps(std::move(model_.graph), steps_); }

 private:
  HandMadeModel model_;
  PlaceId place_ = model_.groups(0, 2, 2);
  std::vector<WrittenStep> steps_;
};

// Of three parts forward, number i stands at (i + 1/2) / 3, of two backward at 1/4 and 3/4.
TEST(OverlappedPasses, take_turns_in_proportion_to_their_parts) {
  Passes passes;
  passes.pass("before", 1, false);
  passes.pass("f", 3, true);
  passes.pass("b", 2, false);
  passes.pass("after", 1, false);
  const ModelGraph graph = passes.put_in_order();
  graph.verify();
  EXPECT_EQ(names_of(graph), (Names{"before0", "f0", "f_exchange0", "b0", "b_exchange0", "f1",
                                    "f_exchange1", "b1", "f2", "after0"}));
  ASSERT_EQ(graph.blocks.size(), 3U);
  EXPECT_EQ(graph.blocks[BlockId(1)].name, "f, beside b");
  // f2 still waits for its own exchange.
  EXPECT_EQ(models_testing::names_after(graph, graph.ops[OpId(8)]), Names{"f_exchange1"});
}

TEST(OverlappedPasses, leave_a_graph_without_them_as_it_is) {
  Passes passes;
  passes.pass("f", 2, false);
  passes.pass("b", 2, false);
  EXPECT_EQ(names_of(passes.put_in_order()),
            (Names{"f0", "f_exchange0", "f1", "b0", "b_exchange0", "b1"}));
}

std::string experts(const std::string& parallel) {
  return "{kind: moe, phase: training, model: {layers: 4, hidden: 1024, heads: 8, kv_heads: 8, "
         "vocabulary: 4096}, moe: {experts: 32, top_k: 4, inner: 1024}, sequence_length: 1024, "
         "microbatch: 1, sequences: 64, parallel: {pipeline: 2, data: 16, expert: 16, " +
         parallel + "}}";
}

// While a microbatch's tokens are on their way, the other's attention or experts compute.
TEST(OverlappedPasses, of_experts_exchange_beside_attention_and_other_experts) {
  const Scenario scenario = scenario_of(experts("schedule: dualpipe_v"), 4);
  const ModelGraph graph = build_model(scenario);
  graph.verify();
  const std::string block =
      "stage 0, virtual stage 0, microbatch 3: forward of layer 0, beside stage 0, virtual stage "
      "1, microbatch 1: backward of layer 3";
  Names heads;  // what begins or ends parts
  for (const ModelOp& op : graph.ops) {
    if (op.block.is_none() || graph.blocks[op.block].name != block) continue;
    for (const char* name :
         {"experts_sum_backward", "gradient_dispatch", "attn_norm", "dispatch",
          "experts_down_input_gradient", "gradient_combine", "experts_up", "combine",
          "dispatch_copy_backward", "attention_backward", "attn_norm_backward", "experts_sum"}) {
      if (op.name == name) heads.emplace_back(name);
    }
  }
  EXPECT_EQ(heads, (Names{"experts_sum_backward", "gradient_dispatch", "attn_norm", "dispatch",
                          "experts_down_input_gradient", "gradient_combine", "experts_up",
                          "combine", "dispatch_copy_backward", "attention_backward",
                          "attn_norm_backward", "experts_sum"}));
}

TEST(OverlappedPasses, compute_what_zb_v_computes) {
  const ModelGraph overlapped = build_model(scenario_of(experts("schedule: dualpipe_v"), 4));
  const ModelGraph apart = build_model(scenario_of(experts("schedule: zb_v"), 4));
  EXPECT_EQ(models_testing::product_flops_of_a_gpu(overlapped),
            models_testing::product_flops_of_a_gpu(apart));
  for (const char* name : {"dispatch", "send_forward", "send_backward", "gradient_sum"}) {
    EXPECT_EQ(ops_named(overlapped, name).size(), ops_named(apart, name).size()) << name;
  }
}

// Also where a forward overlaps a backward of its own virtual stage.
TEST(OverlappedPasses, of_combined_1f1b_compute_what_interleaved_computes) {
  const ModelGraph overlapped = build_model(scenario_of(experts("schedule: combined_1f1b"), 4));
  const ModelGraph apart = build_model(scenario_of(experts("schedule: interleaved"), 4));
  overlapped.verify();
  EXPECT_EQ(models_testing::product_flops_of_a_gpu(overlapped),
            models_testing::product_flops_of_a_gpu(apart));
  for (const char* name : {"dispatch", "send_forward", "send_backward", "gradient_sum"}) {
    EXPECT_EQ(ops_named(overlapped, name).size(), ops_named(apart, name).size()) << name;
  }
  const auto beside = std::count_if(
      overlapped.blocks.begin(), overlapped.blocks.end(),
      [](const Block& block) { return block.name.find(", beside ") != std::string::npos; });
  // 2 stages of 2 parts of a layer, 4 microbatches: of 8 backwards on each stage all but 5 and 3
  // are beside a forward; what begins or ends the model has blocks of its own.
  EXPECT_GE(beside, (8 - 5) + (8 - 3));
}

double time_of(const std::string& schedule, Repeats repeats) {
  Scenario scenario = scenario_of(experts("schedule: " + schedule), 4);
  scenario.run.repeats = repeats;
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  ModelRun model(scenario, cluster, graph);
  return to_microseconds(model.run(Mode::bulk, {}).time);
}

// Exchanges between nodes take longer than all products here: beside the other microbatch's
// products most of these disappear, but the exchanges follow one another as before.
TEST(OverlappedPasses, hide_products_beside_exchanges) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  const double apart = time_of("zb_v", Repeats::each);
  const double overlapped = time_of("dualpipe_v", Repeats::each);
  EXPECT_LT(overlapped, 0.95 * apart);
  EXPECT_NEAR(time_of("dualpipe_v", Repeats::blocks) / overlapped, 1, 0.05);
}

// As above, with fewer pairs of microbatches: 8 of 16 backwards.
TEST(OverlappedPasses, of_combined_1f1b_take_less_than_interleaved) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  EXPECT_LT(time_of("combined_1f1b", Repeats::once), time_of("interleaved", Repeats::once));
}

// In turns, as PyTorch runs them, passes follow one another, and what the forward has made is sent
// after the backward as well.
TEST(OverlappedPasses, follow_one_another_where_sends_go_in_turns) {
  const auto of = [](const std::string& more) {
    return build_model(scenario_of(
        "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, inner: 256, vocabulary: "
        "1000}, sequence_length: 32, microbatch: 1, phase: training, sequences: 24, parallel: "
        "{data: 4, pipeline: 2, schedule: dualpipe_v" +
            more + "}}",
        1));
  };
  const auto beside = [](const ModelGraph& graph) {
    return std::count_if(graph.blocks.begin(), graph.blocks.end(), [](const Block& block) {
      return block.name.find(", beside ") != std::string::npos;
    });
  };
  EXPECT_GT(beside(of("")), 0);
  const ModelGraph graph = of(", sends: in_turns");
  EXPECT_EQ(beside(graph), 0);
  std::size_t after_both = 0;
  for (const ModelOp* send : ops_named(graph, "send_forward")) {
    EXPECT_EQ(send->stream, kPipeline);
    if (send->after.size() == 3) ++after_both;  // with what the receiver computes
  }
  EXPECT_GT(after_both, 0U);
}

}  // namespace
}  // namespace weft::overlapped_passes_test
