// What is written as a graph reads back the same.
#pragma once

#include <gtest/gtest.h>

#include "sim/traces/graph/graph_file.h"
#include "sim/traces/graph/load_graph.h"
#include "sim/traces/import_text.h"

namespace weft {

inline void expect_same_graph(const ModelGraph& a, const ModelGraph& b) {
  ASSERT_EQ(a.ops.size(), b.ops.size());
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (std::uint32_t i = 0; i < a.ops.size(); ++i) {
    const ModelOp& x = a.ops[OpId(i)];
    const ModelOp& y = b.ops[OpId(i)];
    EXPECT_EQ(x.name, y.name) << i;
    EXPECT_EQ(x.part, y.part) << i;
    EXPECT_TRUE(x.shape == y.shape) << i << ' ' << x.name;
    EXPECT_TRUE(a.places[x.place] == b.places[y.place]) << i << ' ' << x.name;
    EXPECT_EQ(x.stream, y.stream) << i << ' ' << x.name;
    EXPECT_EQ(x.after, y.after) << i << ' ' << x.name;
    EXPECT_EQ(x.block, y.block) << i << ' ' << x.name;
    EXPECT_TRUE(x.beside == y.beside) << i << ' ' << x.name;
    EXPECT_EQ(x.layer_rules, y.layer_rules) << i << ' ' << x.name;
  }
}

inline void expect_round_trip(const ModelGraph& graph, int gpus) {
  ASSERT_EQ(obstacle_to_writing(graph), "");
  for (const GraphText form : {GraphText::yaml, GraphText::json}) {
    const LoadedTrace again = load_graph_text(import_text(graph, gpus, form), gpus);
    ASSERT_TRUE(again.graph) << again.problems.to_text();
    expect_same_graph(graph, *again.graph);
  }
}

}  // namespace weft
