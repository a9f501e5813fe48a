// What the profiles that tests write have, whatever their format: the first kernel of a stream, and
// operators by rank.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

inline std::vector<const ModelOp*> of_rank(const ModelGraph& graph, std::uint32_t rank) {
  std::vector<const ModelOp*> ops;
  for (const ModelOp& op : graph.ops) {
    const auto& members = graph.places[op.place].groups.front();
    if (std::find(members.begin(), members.end(), rank) != members.end()) ops.push_back(&op);
  }
  return ops;
}

// A GEMM of 20 us with its grid.
inline void expect_first_kernel(const ModelOp& op) {
  const auto& kernel = std::get<RecordedShape>(op.shape);
  EXPECT_EQ(kernel.time, microseconds(20));
  EXPECT_EQ(kernel.wgs, 12);
  EXPECT_EQ(kernel.threads, 256);
  EXPECT_EQ(kernel.registers_per_thread, 40);
  EXPECT_EQ(kernel.lds, bytes(512));
  EXPECT_EQ(op.name, "gemm_kernel");
}

}  // namespace weft
