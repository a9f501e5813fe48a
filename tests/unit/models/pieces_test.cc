// What is planned of a model without folding it.
#include "sim/models/pieces.h"

#include <gtest/gtest.h>

#include "sim/models/build_model.h"
#include "tests/sanitized.h"
#include "tests/unit/engine/simulated.h"

namespace weft::pieces_test {
namespace {

constexpr std::size_t kMostSanitized = 30'000;  // operators: more take seconds then

// Whoever folds a model gets the same pieces, in the same order: the estimate knows them all.
TEST(Pieces, are_those_of_the_folded_model) {
  for (const char* name : {"dlrm_128_nodes", "llama3_70b_training", "llama3_70b_decode",
                           "gpt3_175b_training", "mixtral_prefill", "deepseek_v3_training"}) {
    const Scenario scenario = scenario_of_file(std::string("scenarios/models/") + name + ".yaml");
    const Cluster cluster = build_cluster(scenario.cluster);
    const ModelGraph graph = build_model(scenario);
    if (kSanitized && graph.ops.size() > kMostSanitized) continue;
    const std::vector<Piece> pieces = pieces_of(graph, cluster);
    const Folded folded = fold(graph, cluster);
    ASSERT_EQ(pieces.size(), folded.pieces.size()) << name;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].in_a_node, folded.pieces[i].in_a_node) << name << ' ' << i;
      EXPECT_EQ(to_text(pieces[i].graph()), to_text(folded.pieces[i].graph())) << name << ' ' << i;
    }
  }
}

// Blocks that are alike but for a place or a shape are two kinds.
TEST(Pieces, of_blocks_that_differ_are_all_there) {
  const Scenario scenario = scenario_of_file("scenarios/models/llama3_70b_training.yaml");
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelGraph graph = build_model(scenario);
  const std::size_t before = pieces_of(graph, cluster).size();
  auto* last = std::get_if<StreamShape>(&graph.ops[OpId(0)].shape);
  for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
    if (auto* stream = std::get_if<StreamShape>(&graph.ops[OpId(i)].shape)) last = stream;
  }
  ASSERT_NE(last, nullptr);
  last->read += bytes(12'345);
  EXPECT_GE(pieces_of(graph, cluster).size(), before);
  EXPECT_EQ(pieces_of(graph, cluster).size(), fold(graph, cluster).pieces.size());
}

}  // namespace
}  // namespace weft::pieces_test
