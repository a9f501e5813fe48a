// Two recorded replicas, each of two GPUs, as four.
#include "sim/models/replicas.h"

#include <gtest/gtest.h>

namespace weft::replicas_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

ModelOp kernel(std::string name, double us, PlaceId place, std::vector<OpId> after = {}) {
  ModelOp op;
  op.name = std::move(name);
  op.shape =
      RecordedShape{.time = microseconds(static_cast<std::int64_t>(us)), .wgs = 8, .lds = {}};
  op.place = place;
  op.after = std::move(after);
  return op;
}

ModelOp call(CollectiveOp kind, PlaceId place, std::vector<OpId> after, std::uint32_t stream) {
  ModelOp op;
  op.name = "call";
  op.shape = CommunicationShape{.op = kind, .buffer = kibibytes(64), .pair_bytes = {}};
  op.place = place;
  op.after = std::move(after);
  op.stream = stream;
  return op;
}

// A kernel on each of four GPUs, a collective within each replica, one across both.
ModelGraph recorded(CollectiveOp across = CollectiveOp::all_reduce, const Ranks& who = {0, 2}) {
  ModelGraph graph;
  std::vector<OpId> kernels;
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
    kernels.push_back(graph.add(kernel("k", 10 + gpu, graph.add_place({.groups = {{gpu}}}))));
  }
  for (std::uint32_t i = 0; i < 4; i += 2) {
    graph.add(call(CollectiveOp::all_gather, graph.add_place({.groups = {{i, i + 1}}}),
                   {kernels[i], kernels[i + 1]}, 1));
  }
  Ranks others;
  std::vector<OpId> own;
  std::vector<OpId> other;
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
    const bool first = std::find(who.begin(), who.end(), gpu) != who.end();
    if (!first) others.push_back(gpu);
    (first ? own : other).push_back(kernels[gpu]);
  }
  graph.add(call(across, graph.add_place({.groups = {who}}), own, 2));
  graph.add(call(across, graph.add_place({.groups = {others}}), other, 2));
  graph.verify();
  return graph;
}

Ranks members(const ModelGraph& graph, std::uint32_t op, std::size_t group) {
  return graph.places[graph.ops[OpId(op)].place].groups.at(group);
}

TEST(Replicas, repeat_and_collectives_across_them_grow) {
  const ReplicatedGraph made = replicate(recorded(), 4, 2, 5);
  ASSERT_TRUE(made.graph);
  EXPECT_EQ(made.grown, 2U);
  EXPECT_EQ(made.graph->ops.size(), recorded().ops.size());
  // Copies 0, 2 and 4 do what replica 0 did.
  const Groups& first = made.graph->places[made.graph->ops[OpId(0)].place];
  EXPECT_EQ(first.groups, (std::vector<Ranks>{{0}, {4}, {8}}));
  EXPECT_EQ(members(*made.graph, 3, 1), Ranks{7});
  EXPECT_EQ(members(*made.graph, 5, 1), (Ranks{6, 7}));
  EXPECT_EQ(members(*made.graph, 6, 0), (Ranks{0, 2, 4, 6, 8}));
  EXPECT_EQ(members(*made.graph, 7, 0), (Ranks{1, 3, 5, 7, 9}));
  EXPECT_EQ(std::get<CommunicationShape>(made.graph->ops[OpId(6)].shape).buffer, kibibytes(64));
}

TEST(Replicas, kernels_of_different_times_repeat_them) {
  ModelGraph graph;
  ModelOp op = kernel("k", 12, graph.add_place({.groups = {{0, 1}}}));
  std::get<RecordedShape>(op.shape).by_rank = {{.time = microseconds(10), .wgs = 8},
                                               {.time = microseconds(12), .wgs = 4}};
  graph.add(std::move(op));
  const ReplicatedGraph made = replicate(graph, 2, 2, 3);
  ASSERT_TRUE(made.graph);
  const auto& by_rank = std::get<RecordedShape>(made.graph->ops[OpId(0)].shape).by_rank;
  ASSERT_EQ(by_rank.size(), 3U);
  EXPECT_EQ(by_rank[1].time, microseconds(12));
  EXPECT_EQ(by_rank[2], by_rank[0]);
}

// Compilers choose grids on each rank: copies 0 and 2 have that of the first replica, 1 and 3 that
// of the second.
TEST(Replicas, may_have_grids_of_their_own) {
  ModelGraph other = recorded();
  std::get<RecordedShape>(other.ops[OpId(2)].shape).wgs = 9;
  const ReplicatedGraph made = replicate(other, 4, 2, 4);
  ASSERT_TRUE(made.graph) << made.problems.front();
  const ModelOp& op = made.graph->ops[OpId(2)];
  EXPECT_EQ(std::get<RecordedShape>(op.shape).wgs, 9);
  EXPECT_EQ(made.graph->places[op.place].groups,
            (std::vector<std::vector<std::uint32_t>>{{2}, {6}}));
}

TEST(Replicas, what_was_not_recorded_is_said) {
  const auto said = [](const ModelGraph& graph) {
    const ReplicatedGraph made = replicate(graph, 4, 2, 4);
    EXPECT_FALSE(made.graph);
    return made.problems.empty() ? std::string() : made.problems.front();
  };
  EXPECT_NE(said(recorded(CollectiveOp::all_to_all)).find("is an all_to_all across replicas"),
            std::string::npos);
  EXPECT_NE(said(recorded(CollectiveOp::all_reduce, {0, 3})).find("unknown who takes part on 4"),
            std::string::npos);
  // Two collectives of one name, kind and size: one problem.
  EXPECT_EQ(replicate(recorded(CollectiveOp::all_to_all), 4, 2, 4).problems.size(), 1U);
  ModelGraph other = recorded();
  std::get<RecordedShape>(other.ops[OpId(2)].shape).work = RecordedWork{.read = bytes(64)};
  EXPECT_NE(said(other).find("where GPU 0 has 'k', GPU 2 has 'k, 64 B read, 0 B written'"),
            std::string::npos)
      << said(other);
  ModelGraph more = recorded();
  more.add(kernel("k", 3, more.add_place({.groups = {{3}}})));
  EXPECT_NE(said(more).find("GPU 1 has 1 operators on a stream, GPU 3 has 2"), std::string::npos)
      << said(more);
}

}  // namespace
}  // namespace weft::replicas_test
