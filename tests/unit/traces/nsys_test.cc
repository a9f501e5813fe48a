// Reports of Nsight Systems, written by the test, as workloads.
#include <gtest/gtest.h>

#include "sim/models/join_ranks.h"
#include "sim/traces/load_trace.h"
#include "sim/traces/nodes/nvtx_operator.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/nsys_fixture.h"
#include "tests/unit/traces/written_kernel.h"

namespace weft::nsys_test {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)";
constexpr const char* kGemm = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";

class NsysTrace : public NsysFixture {};

TEST_F(NsysTrace, a_report_has_the_kernels_and_collectives_of_all_its_processes) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank).kernel(7, 20);
    report.range("nccl:all_reduce", 9).says("ncclAllReduce", 99, 4096);
    report.kernel(20, 500, kAllReduce).kernel(7, 30).wait(7, 20).kernel(7, 40);
  }
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 4U);
  expect_first_kernel(*ops[0]);
  EXPECT_EQ(std::get<CommunicationShape>(ops[1]->shape).buffer, bytes(4096));
  EXPECT_EQ(ops[1]->after.size(), 2U);  // each rank's first kernel
  EXPECT_TRUE(ops[2]->after.empty());
  ASSERT_EQ(ops[3]->after.size(), 1U);  // the event was recorded on NCCL's stream
  EXPECT_EQ(&loaded.graph->ops[ops[3]->after[0]], ops[1]);
  EXPECT_EQ(loaded.summary.device.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(loaded.summary.device.cus, 132);
  EXPECT_EQ(loaded.summary.recorded, microseconds(2 * (20 + 30 + 40)));
}

// Without events: NCCL's stream waits for its caller, the caller's for the collectives before.
TEST_F(NsysTrace, a_wait_is_of_the_stream_that_waits) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank).kernel(7, 20).wait(20).says("ncclAllReduce", 99, 4096);
    report.kernel(20, 500, kAllReduce).wait(20).kernel(7, 30).wait(7).kernel(7, 40);
  }
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 4U);
  EXPECT_TRUE(ops[2]->after.empty());
  EXPECT_EQ(ops[3]->after.size(), 1U);
}

// Older reports have events, but not which of them a stream waits for.
TEST_F(NsysTrace, events_without_a_number_link_nothing) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank).kernel(7, 20).kernel(9, 30).wait(7, 9).kernel(7, 40);
  }
  EXPECT_EQ(of_rank(*load(report).graph, 0)[2]->after.size(), 1U);
  report.run("UPDATE CUPTI_ACTIVITY_KIND_CUDA_EVENT SET eventSyncId = NULL");
  report.run("UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET eventSyncId = NULL");
  EXPECT_TRUE(of_rank(*load(report).graph, 0)[2]->after.empty());
}

TEST_F(NsysTrace, nccl_says_who_is_which_rank_and_what_groups_move) {
  NsysReport report;
  for (const int device : {0, 1}) {
    const int rank = 1 - device;
    report.process(10 + device, device).joins(99, 2, rank);
    report.kernel(7, 20 + rank);
    report.group({{99, 1000}}, "ncclReduceScatter", 50,
                 "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)");
    report.group({{99, 100}, {99, 28}}, "ncclAllGather", 50, "ncclDevKernel_AllGather_RING_LL(x)");
    // To each rank and from each.
    report.group({{99, 8 + rank, 0, 0}, {99, 8, 0, 1}, {99, 24, 1, 0}, {99, 24, 1, 1}}, "", 50,
                 "ncclDevKernel_SendRecv(x)");
  }
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 4U);
  EXPECT_EQ(std::get<RecordedShape>(ops[0]->shape).time, microseconds(20));
  const auto shape = [&ops](std::size_t i) { return std::get<CommunicationShape>(ops[i]->shape); };
  EXPECT_EQ(shape(1).op, CollectiveOp::reduce_scatter);
  EXPECT_EQ(shape(1).buffer, bytes(2000));  // NCCL says what each gets
  EXPECT_EQ(shape(2).op, CollectiveOp::all_gather);
  EXPECT_EQ(shape(2).buffer, bytes(256));  // two calls by one kernel, of each what a rank gives
  EXPECT_EQ(shape(3).op, CollectiveOp::all_to_all);
  EXPECT_EQ(shape(3).pair_bytes, (std::vector<std::int64_t>{8, 24, 9, 24}));
}

TEST_F(NsysTrace, shapes_in_ranges_make_operators_of_their_kernels) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank);
    report.in_range("aten::mm, op_id = 40, sizes = [[1024, 256], [256, 512]]", 7, 20, kGemm);
    report.in_range("aten::silu, seq = 3, op_id = 41, sizes = [[1024, 512]]", 7, 5, "silu_kernel");
    report.in_range("my own words", 7, 6, "plain");
    report.copy(7, 4, 4096, 8);
  }
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 1);
  ASSERT_EQ(ops.size(), 4U);
  const auto work = [&ops](std::size_t i) { return std::get<RecordedShape>(ops[i]->shape).work; };
  EXPECT_EQ(ops[0]->part, "gemm");
  EXPECT_EQ(work(0)->gemm->tile_n, 256);
  EXPECT_EQ(work(0)->flops, flops(std::int64_t{2} * 1024 * 512 * 256));
  EXPECT_EQ(ops[1]->part, "elementwise");
  EXPECT_EQ(work(1)->read, bytes(1024 * 512 * 2));
  EXPECT_FALSE(work(2));
  EXPECT_EQ(ops[3]->part, "copy");
  EXPECT_EQ(work(3)->read, bytes(4096));
  EXPECT_NE(to_text(loaded.summary).find("have elements of 2 B (tensor_element_bytes)"),
            std::string::npos);
  work_.element_bytes = 4;
  const LoadedTrace wider = load(report);
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*wider.graph, 0)[1]->shape).work->read,
            bytes(1024 * 512 * 4));
}

TEST_F(NsysTrace, collectives_without_sizes_are_all_named_and_can_be_given) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank);
    for (int i = 0; i < 2; ++i) {
      report.kernel(7, 20).range("ncclAllReduce", 8).kernel(20, 50, kAllReduce);
      report.kernel(20, 40, "ncclDevKernel_AllGather_RING_LL(x)");
    }
  }
  const std::string said = problems(report);
  EXPECT_NE(said.find("kernel 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL': the profile does not say "
                      "what 2 of them move"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("kernel 'ncclDevKernel_AllGather_RING_LL'"), std::string::npos) << said;

  work_.collective_sizes = folder_.path("sizes.txt");
  folder_.write("sizes.txt", "# a layer\nall_reduce 64 MiB\n\nall_gather 3 B  # odd\n");
  EXPECT_NE(problems(report).find("which do not divide among 2 GPUs"), std::string::npos);
  folder_.write("sizes.txt", "all_reduce 64 MiB\nall_reduce 4 MiB\n");
  EXPECT_NE(problems(report).find("number 2 without a size on rank 0"), std::string::npos);
  folder_.write("sizes.txt", "all_reduce 64 MiB\nall_gather 4 MiB\nall_reduce 1 MiB\n");
  EXPECT_NE(problems(report).find("3 lines, but 4 collectives of rank 0"), std::string::npos);
  folder_.write("sizes.txt", "all_reduce\nall_gather 4 elephants\nreduce 4 MiB");
  const std::string lines = problems(report);
  EXPECT_NE(lines.find("line 1: must be like 'all_reduce 64 MiB'"), std::string::npos) << lines;
  EXPECT_NE(lines.find("line 2"), std::string::npos) << lines;
  EXPECT_NE(lines.find("line 3"), std::string::npos) << lines;

  folder_.write("sizes.txt", "all_reduce 64 MiB\nall_gather 4 MiB\n");
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 6U);
  EXPECT_EQ(std::get<CommunicationShape>(ops[4]->shape).buffer, mebibytes(64));
  EXPECT_EQ(std::get<CommunicationShape>(ops[5]->shape).buffer, mebibytes(4));
}

// A CUDA graph: one call launches several kernels.
TEST_F(NsysTrace, a_collective_without_a_launch_of_its_own_is_refused) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank).kernel(7, 20).kernel(20, 500, kAllReduce);
  }
  report.run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = 1 WHERE correlationId = 2");
  const std::string said = problems(report);
  EXPECT_NE(said.find("1 of them have no launch of their own"), std::string::npos) << said;
}

TEST_F(NsysTrace, what_was_launched_before_the_report_is_left_out) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank).kernel(20, 500, kAllReduce).kernel(7, 20);
  }
  report.run("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IN (1, 3)");
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(loaded.graph->ops.size(), 2U);
  EXPECT_NE(to_text(loaded.summary).find("2 kernels and copies that were launched before"),
            std::string::npos);
  report.run("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME");
  EXPECT_NE(problems(report).find("calls of CUDA or HIP were not recorded"), std::string::npos);
}

TEST_F(NsysTrace, sizes_that_nothing_lacks_are_refused) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank).says("ncclAllReduce", 99, 64).kernel(20, 500, kAllReduce);
  }
  work_.collective_sizes = folder_.path("sizes.txt");
  folder_.write("sizes.txt", "all_reduce 64 MiB\n");
  EXPECT_NE(problems(report).find("no effect: the profiles say all sizes"), std::string::npos);
}

TEST_F(NsysTrace, a_step_or_some_or_their_mean_can_be_chosen) {
  NsysReport report;
  for (const int rank : {0, 1}) {
    report.process(10 + rank, rank);
    for (const int step : {1, 2, 3}) {
      report.range("iteration " + std::to_string(step), 9).kernel(7, 20 + 2 * step);
    }
  }
  const auto times = [&] {
    std::vector<Duration> found;
    const LoadedTrace loaded = load(report);
    EXPECT_TRUE(loaded.graph) << loaded.problems.to_text();
    if (!loaded.graph) return found;
    for (const ModelOp* op : of_rank(*loaded.graph, 0)) {
      found.push_back(std::get<RecordedShape>(op->shape).time);
    }
    return found;
  };
  work_.step = 2;
  EXPECT_EQ(times(), std::vector{microseconds(24)});
  work_.last_step = 3;
  EXPECT_EQ(times(), (std::vector{microseconds(24), microseconds(26)}));
  work_.steps = StepsAs::mean;
  EXPECT_EQ(times(), std::vector{microseconds(25)});
  work_.last_step = 4;
  EXPECT_NE(problems(report).find("not each step from #2 to #4; it has #1 #2 #3"),
            std::string::npos);
}

TEST_F(NsysTrace, one_process_may_use_several_gpus) {
  NsysReport report;
  report.process(10, 0).kernel(7, 20).process(10, 1).kernel(7, 30);
  const LoadedTrace loaded = load(report);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 0)[0]->shape).time, microseconds(20));
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 1)[0]->shape).time, microseconds(30));
}

TEST_F(NsysTrace, what_is_not_whole_is_refused) {
  NsysReport report;
  report.process(10, 0).kernel(7, 20).says("ncclAllReduce", 99, 64).kernel(20, 500, kAllReduce);
  EXPECT_NE(problems(report).find("kernels of 1 GPUs, but the cluster has 2"), std::string::npos);
  report.joins(99, 2, 0);
  EXPECT_NE(problems(report, 1).find("communicator 63: has 2 ranks, of which 1 use it here"),
            std::string::npos);
  report.run("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER)");
  report.run("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1)");
  EXPECT_NE(problems(report).find("1 launches of CUDA graphs were recorded without their kernels"),
            std::string::npos);
  report.run("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN gridX");
  EXPECT_NE(problems(report).find("has no column gridX"), std::string::npos);
  report.run("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
  EXPECT_NE(problems(report).find("CUPTI_ACTIVITY_KIND_KERNEL: no such table"), std::string::npos);
  work_.path = folder_.path("no.sqlite");
  EXPECT_NE(load_trace(work_, 2).problems.to_text().find("no.sqlite: error: no such file"),
            std::string::npos);
  folder_.write("no.sqlite", "SQLite format 3");
  EXPECT_NE(load_trace(work_, 2).problems.to_text().find("SQLite says:"), std::string::npos);
  folder_.write("no.sqlite", "{}");
  EXPECT_NE(load_trace(work_, 2).problems.to_text().find("not a database of SQLite"),
            std::string::npos);
  EXPECT_NE(load_trace(work_, 2, bytes(1)).problems.to_text().find("needs more memory"),
            std::string::npos);
  work_.path = folder_.path("");
  EXPECT_EQ(load_trace(work_, 2).graph, std::nullopt);
}

TEST(NvtxRanges, of_operators_and_steps_are_told_by_their_texts) {
  EXPECT_TRUE(is_operator("aten::mm, op_id = 40"));
  EXPECT_FALSE(is_operator("forward of a::b"));
  const auto mm = [](const std::string& sizes) {
    return work_of_range("aten::mm, seq = 1, op_id = 2, sizes = " + sizes, 2).has_value();
  };
  EXPECT_TRUE(mm("[[4, 8], [8, 16]], input_op_ids = [[1, 0]]"));
  EXPECT_FALSE(mm("[[4, 8], [8, 16]"));
  EXPECT_FALSE(mm("[[4, 8], [7, 16]]"));
  EXPECT_FALSE(mm("[[4, 8]]"));
  EXPECT_FALSE(mm("[4, 8]"));
  EXPECT_FALSE(mm(""));
  // Causal or not?
  EXPECT_FALSE(work_of_range(
      "aten::_flash_attention_forward, sizes = [[1, 64, 8, 64], [1, 64, 2, 64], [1, 64, 2, 64]]",
      2));
  EXPECT_EQ(step_of_range("ProfilerStep#3"), 3);
  EXPECT_EQ(step_of_range("iteration_12"), 12);
  EXPECT_EQ(step_of_range("step 7"), 7);
  EXPECT_EQ(step_of_range("step"), std::nullopt);
  EXPECT_EQ(step_of_range("step 7 of 9"), std::nullopt);
  EXPECT_EQ(step_of_range("12"), std::nullopt);
  EXPECT_EQ(step_of_range("layer 3"), std::nullopt);
}

}  // namespace
}  // namespace weft::nsys_test
