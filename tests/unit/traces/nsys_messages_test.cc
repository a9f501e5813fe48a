// Sends and receives of NCCL in reports of Nsight Systems, written by the test.
#include <gtest/gtest.h>

#include "sim/models/join_ranks.h"
#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/nsys_fixture.h"
#include "tests/unit/traces/written_kernel.h"

namespace weft::nsys_messages_test {
namespace {

class NsysMessages : public NsysFixture {};

constexpr const char* kSendReceive = "ncclDevKernel_SendRecv(x)";

std::vector<CommunicationShape> calls_of(const ModelGraph& graph) {
  std::vector<CommunicationShape> calls;
  for (const ModelOp& op : graph.ops) {
    if (const auto* call = std::get_if<CommunicationShape>(&op.shape)) calls.push_back(*call);
  }
  return calls;
}

TEST_F(NsysMessages, one_message_is_read) {
  NsysReport report;
  report.process(10, 0).joins(99, 2, 0).says("ncclSend", 99, 64, 1).kernel(20, 9, kSendReceive);
  report.process(11, 1).joins(99, 2, 1).says("ncclRecv", 99, 64, 0).kernel(20, 9, kSendReceive);
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto calls = calls_of(*loaded.graph);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].op, CollectiveOp::point_to_point);
  EXPECT_FALSE(calls[0].meets);
}

// As stages of a pipeline do it: activations one way and gradients the other in one kernel. It
// ends, for what waits for it, when both have arrived.
TEST_F(NsysMessages, a_kernel_that_sends_and_receives_is_two_messages) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    const int own = rank == 0 ? 64 : 32;
    report.process(10 + rank, rank).joins(99, 2, rank).kernel(7, 20);
    report.group({{99, own, 1 - rank, 0}, {99, 96 - own, 1 - rank, 1}}, "", 50, kSendReceive);
    report.wait(7, 20).kernel(7, 30);
  }
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 4U);
  const auto& sent = std::get<CommunicationShape>(ops[1]->shape);
  const auto& received = std::get<CommunicationShape>(ops[2]->shape);
  EXPECT_EQ(std::pair(sent.buffer, received.buffer), std::pair(bytes(64), bytes(32)));
  EXPECT_TRUE(sent.meets && received.meets);
  const auto groups = [&](std::size_t i) {
    return loaded.graph->places[ops[i]->place].groups.front();
  };
  EXPECT_EQ(groups(1), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(groups(2), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(ops[1]->after.size(), 2U);  // what either end computed before
  EXPECT_EQ(ops[2]->after.size(), 2U);
  EXPECT_EQ(ops[3]->after.size(), 2U);  // both messages
}

// A stage in the middle sends to both neighbours at once, which is no all-to-all.
TEST_F(NsysMessages, messages_to_two_neighbours_are_messages) {
  NsysReport report;
  for (const int rank : {0, 1, 2}) {
    std::vector<std::vector<std::int64_t>> calls;
    for (const int peer : {rank - 1, rank + 1}) {
      if (peer < 0 || peer > 2) continue;
      calls.push_back({99, 64, peer, 0});
      calls.push_back({99, 64, peer, 1});
    }
    report.process(10 + rank, rank).joins(99, 3, rank).group(calls, "", 50, kSendReceive);
  }
  const LoadedTrace loaded = load(report, 3);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto calls = calls_of(*loaded.graph);
  ASSERT_EQ(calls.size(), 4U);
  for (const CommunicationShape& call : calls) EXPECT_EQ(call.op, CollectiveOp::point_to_point);
}

// Rank 0 has nothing for itself; that rank 1 has tells that it is an all-to-all.
TEST_F(NsysMessages, an_all_to_all_is_told_by_what_some_rank_sends_to_itself) {
  NsysReport report;
  report.process(10, 0).joins(99, 2, 0);
  report.group({{99, 24, 1, 0}, {99, 9, 1, 1}}, "", 50, kSendReceive);
  report.process(11, 1).joins(99, 2, 1);
  report.group({{99, 9, 0, 0}, {99, 24, 0, 1}, {99, 5, 1, 0}, {99, 5, 1, 1}}, "", 50, kSendReceive);
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto calls = calls_of(*loaded.graph);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].op, CollectiveOp::all_to_all);
  EXPECT_EQ(calls[0].pair_bytes, (std::vector<std::int64_t>{0, 24, 9, 5}));
}

TEST_F(NsysMessages, messages_of_two_communicators_in_one_kernel_are_refused) {
  NsysReport both;
  for (const int rank : {0, 1}) {
    both.process(10 + rank, rank);
    both.group({{99, 64, 1 - rank, 0}, {98, 64, 1 - rank, 1}}, "", 50, kSendReceive);
  }
  EXPECT_NE(problems(both).find("1 kernels for a group of 2 calls, the first of which is "
                                "ncclSend"),
            std::string::npos);
}

// Calls that NCCL refuses, or a damaged report.
TEST_F(NsysMessages, a_call_out_of_range_is_named) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank);
    report.group({{99, 64, 1 - rank, 0}, {99, 64, -1, 1}}, "", 50, kSendReceive);
  }
  const std::string text = problems(report);
  EXPECT_NE(
      text.find("call 2 of the group, ncclRecv, is with rank 4294967295; must be 0 to 131071"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("weft reads groups"), std::string::npos) << text;
  NsysReport large;
  for (const int rank : {0, 1}) {
    large.process(10 + rank, rank);
    large.group({{99, std::int64_t{1} << 60U, 1 - rank, 0}, {99, 64, 1 - rank, 1}}, "", 50,
                kSendReceive);
  }
  EXPECT_NE(problems(large).find("call 1 of the group, ncclSend, moves 1152921504606846976 B"),
            std::string::npos);
}

// Rank 0 sends 64 B in communicator 63 (hexadecimal of 99) and 32 B in 62, rank 1 receives in the
// other order: each communicator has an order of its own.
TEST_F(NsysMessages, each_communicator_has_its_own_order) {
  for (const int second : {64, 32}) {
    NsysReport report;
    report.process(10, 0).joins(99, 2, 0).kernel(7, 20);
    report.says("ncclSend", 99, 64, 1).kernel(20, 9, kSendReceive);
    report.says("ncclSend", 98, second, 1).kernel(21, 9, kSendReceive);
    report.process(11, 1).joins(99, 2, 1).kernel(7, 20);
    report.says("ncclRecv", 98, second, 0).kernel(21, 9, kSendReceive).wait(7, 21);
    report.kernel(7, 30);  // waits for what comes in 98
    report.says("ncclRecv", 99, 64, 0).kernel(20, 9, kSendReceive);
    const LoadedTrace loaded = load(report);
    ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
    std::vector<std::int64_t> sizes;
    for (const CommunicationShape& call : calls_of(*loaded.graph)) {
      sizes.push_back(call.buffer.count());
    }
    std::sort(sizes.begin(), sizes.end());
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{second, 64}));
    const auto ops = of_rank(*loaded.graph, 1);
    ASSERT_EQ(ops.size(), 4U);
    const auto waited = std::find_if(ops.begin(), ops.end(), [](const ModelOp* op) {
      const auto* kernel = std::get_if<RecordedShape>(&op->shape);
      return kernel != nullptr && kernel->time == microseconds(30);
    });
    ASSERT_EQ((*waited)->after.size(), 1U);
    const ModelOp& before = loaded.graph->ops[(*waited)->after[0]];
    EXPECT_EQ(std::get<CommunicationShape>(before.shape).buffer, bytes(second));
  }
}

TEST_F(NsysMessages, a_wrong_message_is_named_with_its_communicator) {
  NsysReport report;
  report.process(10, 0).joins(99, 2, 0).says("ncclSend", 99, 64, 1).kernel(20, 9, kSendReceive);
  report.says("ncclSend", 99, 8, 1).kernel(20, 9, kSendReceive);
  report.process(11, 1).joins(99, 2, 1).says("ncclRecv", 99, 32, 0).kernel(20, 9, kSendReceive);
  const std::string text = problems(report);
  EXPECT_NE(text.find("32 B, but range 'ncclSend' of rank 0 sends 64 B (group '63')"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 1 never receives it (group '63')"), std::string::npos) << text;
}

// Of four ranks 0 and 1 exchange, and 2 and 3 twice; then all do an all-to-all.
TEST_F(NsysMessages, pairs_beside_an_all_to_all_are_messages) {
  NsysReport report;
  for (const int rank : {0, 1, 2, 3}) {
    report.process(10 + rank, rank).joins(99, 4, rank);
    const int other = rank ^ 1;
    for (int i = 0; i < (rank < 2 ? 1 : 2); ++i) {
      report.group({{99, 64, other, 0}, {99, 64, other, 1}}, "", 50, kSendReceive);
    }
    std::vector<std::vector<std::int64_t>> calls;
    for (const int peer : {0, 1, 2, 3}) {
      calls.push_back({99, 8, peer, 0});
      calls.push_back({99, 8, peer, 1});
    }
    report.group(calls, "", 50, kSendReceive);
  }
  const LoadedTrace loaded = load(report, 4);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  std::map<CollectiveOp, int> found;
  for (const CommunicationShape& call : calls_of(*loaded.graph)) ++found[call.op];
  EXPECT_EQ(found, (std::map<CollectiveOp, int>{{CollectiveOp::point_to_point, 6},
                                                {CollectiveOp::all_to_all, 1}}));
  EXPECT_NE(to_text(loaded.summary)
                .find("1 exchanges of messages are all-to-alls, because a rank of each sends to "
                      "itself"),
            std::string::npos);
}

// Rank 0 sends to itself and to 1, which only receives; rank 2 sends one message; rank 3 has
// nothing to do and no kernel. What goes from 2 to 0 is of 0 B.
TEST_F(NsysMessages, an_all_to_all_may_have_idle_ranks) {
  NsysReport report;
  report.process(10, 0).joins(99, 4, 0);
  report.group({{99, 5, 0, 0}, {99, 5, 0, 1}, {99, 24, 1, 0}, {99, 0, 2, 1}}, "", 50, kSendReceive);
  report.process(11, 1).joins(99, 4, 1);
  report.group({{99, 24, 0, 1}, {99, 9, 2, 1}}, "", 50, kSendReceive);
  report.process(12, 2).joins(99, 4, 2);
  report.group({{99, 9, 1, 0}, {99, 0, 0, 0}}, "", 50, kSendReceive);
  report.process(13, 3).joins(99, 4, 3);
  for (const int rank : {0, 1, 2, 3}) {
    report.process(10 + rank, rank).later(100).says("ncclAllReduce", 99, 64);
    report.kernel(20, 500, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)");
  }
  const LoadedTrace loaded = load(report, 4);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto calls = calls_of(*loaded.graph);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].op, CollectiveOp::all_to_all);
  EXPECT_EQ(calls[0].pair_bytes, (std::vector<std::int64_t>{5, 24, 0, 0, 0, 0, 0, 9, 0}));
  EXPECT_NE(to_text(loaded.summary).find("2 messages of 0 B beside others are left out"),
            std::string::npos);
}

// A message to itself that is part of no all-to-all: its other end is missing.
TEST_F(NsysMessages, an_exchange_without_an_end_is_no_all_to_all) {
  NsysReport report;
  report.process(10, 0).joins(99, 2, 0);
  report.group({{99, 5, 0, 0}, {99, 5, 0, 1}, {99, 24, 1, 0}}, "", 50, kSendReceive);
  report.process(11, 1).joins(99, 2, 1).says("ncclAllReduce", 99, 64);
  report.kernel(20, 500, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)");
  EXPECT_NE(problems(report).find("rank 1 never receives it (group '63')"), std::string::npos);
}

}  // namespace
}  // namespace weft::nsys_messages_test
