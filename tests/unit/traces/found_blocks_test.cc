// What recurs in graphs that do not say it.
#include "sim/traces/found_blocks.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/traces/graph_round_trip.h"

namespace weft::found_blocks_test {
namespace {

std::vector<std::uint32_t> pair_of(std::uint32_t gpu) { return {gpu / 2 * 2, gpu / 2 * 2 + 1}; }

class Written {
 public:
  // On each GPU of [first, last).
  Written& kernel(const std::string& name, double us, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t gpu = first; gpu < last; ++gpu) {
      add(name, RecordedShape{.time = nanoseconds(static_cast<std::int64_t>(us * 1000)), .lds = {}},
          {gpu}, 0);
    }
    return *this;
  }
  // Of each pair of GPUs in [first, last), on a stream of its own, after the kernels before it.
  Written& sum(const std::string& name, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t gpu = first; gpu < last; gpu += 2) {
      CommunicationShape call;
      call.buffer = mebibytes(1);
      add(name, call, pair_of(gpu), 1);
    }
    return *this;
  }
  Written& send(std::uint32_t from, std::uint32_t to) {
    CommunicationShape call;
    call.op = CollectiveOp::point_to_point;
    call.buffer = mebibytes(1);
    add("send", call, {from, to}, 2);
    return *this;
  }
  // Two kernels, a sum, a kernel that waits for it: four operators a GPU.
  Written& layer(int number, std::uint32_t first, std::uint32_t last) {
    const std::string of = "layer" + std::to_string(number) + "_";
    kernel(of + "up", 10, first, last).kernel(of + "down", 20, first, last);
    return sum(of + "sum", first, last).kernel(of + "norm", 5, first, last);
  }
  ModelGraph graph() {
    graph_.verify();
    return graph_;
  }

 private:
  void add(const std::string& name, OpShape shape, const std::vector<std::uint32_t>& gpus,
           std::uint32_t stream) {
    ModelOp op;
    op.name = name;
    op.part = std::holds_alternative<CommunicationShape>(shape) ? "sum" : "compute";
    op.shape = std::move(shape);
    op.place = graph_.add_place({.groups = {gpus}});
    op.stream = stream;
    for (const std::uint32_t gpu : gpus) {
      const OpId before = last_.try_emplace(gpu, OpId::none()).first->second;
      if (!before.is_none() && graph_.ops[before].stream != stream) op.after.push_back(before);
    }
    const OpId made = graph_.add(std::move(op));
    for (const std::uint32_t gpu : gpus) last_[gpu] = made;
  }

  ModelGraph graph_;
  std::map<std::uint32_t, OpId> last_;
};

Written layers(std::uint32_t gpus, int count) {
  Written written;
  written.kernel("first", 3, 0, gpus);
  for (int i = 0; i < count; ++i) written.layer(i, 0, gpus);
  return written;
}

// A kernel before them stands by itself. Of four GPUs in two pairs one operator is left of each.
TEST(FoundBlocks, layers_recur_whatever_their_numbers) {
  const FoundBlocks found = find_blocks(layers(4, 12).graph());
  EXPECT_EQ(found.obstacle, "");
  EXPECT_EQ(found.programs, 1U);
  EXPECT_EQ(found.blocks, 13U);
  EXPECT_EQ(found.kinds, 2U);
  found.graph.verify();
  ASSERT_EQ(found.graph.ops.size(), 1U + 12 * 4);
  for (std::uint32_t i = 0; i < found.graph.ops.size(); ++i) {
    EXPECT_EQ(gpus_in(found.graph.places[found.graph.ops[OpId(i)].place]), 4U);
  }
  const ModelOp& sum = found.graph.ops[OpId(47)];
  EXPECT_EQ(sum.name, "layer0_sum");
  EXPECT_EQ(sum.after, std::vector<OpId>{OpId(46)});
  EXPECT_EQ(sum.block, BlockId(12));
  expect_round_trip(found.graph, 4);
}

// Each message is a block of its own, between the layers of two stages that have other sizes.
TEST(FoundBlocks, stages_of_a_pipeline_meet_in_blocks_of_their_own) {
  Written written;
  for (int micro = 0; micro < 3; ++micro) {
    written.layer(0, 0, 2).layer(1, 0, 2).send(0, 2).send(1, 3);
    written.kernel("other", 7, 2, 4).layer(2, 2, 4).layer(3, 2, 4);
  }
  const FoundBlocks found = find_blocks(written.graph());
  EXPECT_EQ(found.obstacle, "");
  EXPECT_EQ(found.programs, 2U);
  found.graph.verify();
  EXPECT_EQ(found.blocks, 3U * (2 + 1 + 1 + 2));
  EXPECT_EQ(found.kinds, 1U + 2 + 1);  // a layer, both ends of a message, what is before layers
}

// Nothing changes then.
TEST(FoundBlocks, says_why_there_are_none) {
  Written written;
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t gpu = 0; gpu < 3; ++gpu) written.kernel("k", 1 + gpu + 10 * i, gpu, gpu + 1);
  }
  const ModelGraph as_it_was = written.graph();
  FoundBlocks found = find_blocks(written.graph());
  EXPECT_EQ(found.obstacle, "little of it recurs");
  expect_same_graph(found.graph, as_it_was);
  found = find_blocks(layers(4, 3).graph());
  EXPECT_EQ(find_blocks(std::move(found.graph)).obstacle, "it has blocks of its own");
}

// Stages 1 and 2 do the same, but with other stages: each is a program.
TEST(FoundBlocks, stages_in_the_middle_are_told_apart) {
  Written written;
  for (int micro = 0; micro < 6; ++micro) {
    for (std::uint32_t stage = 0; stage < 4; ++stage) {
      written.layer(0, 2 * stage, 2 * stage + 2);
      if (stage == 3) continue;
      written.send(2 * stage, 2 * stage + 2).send(2 * stage + 1, 2 * stage + 3);
    }
  }
  const FoundBlocks found = find_blocks(written.graph());
  EXPECT_EQ(found.obstacle, "");
  EXPECT_EQ(found.programs, 4U);
  // Of the last stage, whose microbatches nothing divides but messages; the same of the others.
  EXPECT_EQ(found.blocks, 6U * (4 + 3));
  EXPECT_EQ(found.kinds, 3U);  // a layer, and both ends of a message
  found.graph.verify();
}

TEST(FoundBlocks, a_graph_of_nothing_has_none) { EXPECT_EQ(find_blocks(ModelGraph()).blocks, 0U); }

// Only where it may pay.
TEST(FoundBlocks, are_offered_for_many_operators) {
  ModelGraph graph;
  const PlaceId place = graph.add_place({.groups = {{0}}});
  const auto add = [&](std::size_t number) {
    while (graph.ops.size() < number) {
      ModelOp op;
      op.shape = RecordedShape{.time = microseconds(1), .lds = {}};
      op.place = place;
      graph.add(std::move(op));
    }
  };
  add(99'999);
  EXPECT_EQ(without_blocks(graph), "");
  add(100'000);
  EXPECT_NE(without_blocks(graph).find("100000 operators, all simulated"), std::string::npos);
}

}  // namespace
}  // namespace weft::found_blocks_test
