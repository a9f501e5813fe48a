// Files of rocprofv3, written by the test, as workloads.
#include <gtest/gtest.h>

#include "sim/traces/load_trace.h"
#include "tests/unit/traces/chakra_writer.h"
#include "tests/unit/traces/graph_round_trip.h"
#include "tests/unit/traces/rocprof_writer.h"
#include "tests/unit/traces/written_kernel.h"

namespace weft::rocprof_test {
namespace {

constexpr int kAllReduce = 0;
constexpr int kAllGather = 1;

class RocprofTrace : public ::testing::Test {
 protected:
  LoadedTrace load(const std::vector<RocprofFile>& files, const std::string& sizes = "") {
    work_.format = WorkloadKind::rocprof;
    work_.path = folder_.path("");
    for (std::size_t i = 0; i < files.size(); ++i) {
      files[i].write(folder_.path("rank" + std::to_string(i) + "_results.json"));
    }
    if (!sizes.empty()) {
      work_.collective_sizes = folder_.path("sizes.txt");
      std::ofstream(work_.collective_sizes) << sizes;
    }
    const auto gpus = static_cast<int>(files.size());
    LoadedTrace loaded = load_trace(work_, gpus);
    if (loaded.graph) expect_round_trip(*loaded.graph, gpus);
    return loaded;
  }
  std::string problems(const std::vector<RocprofFile>& files, const std::string& sizes = "") {
    const LoadedTrace loaded = load(files, sizes);
    EXPECT_FALSE(loaded.graph);
    return loaded.problems.to_text();
  }

  TraceFolder folder_{"rocprof"};
  TraceWork work_;
};

std::vector<RocprofFile> two_ranks_that_sum() {
  RocprofFile file;
  file.kernel(7, 20).collective(20, 500, kAllReduce).kernel(7, 30);
  return {file, file};
}

// A grid of 767 x 4 work-items in work-groups of 128 x 2 has 6 x 2 of these.
TEST_F(RocprofTrace, a_file_has_the_kernels_and_collectives_of_a_process) {
  const LoadedTrace loaded = load(two_ranks_that_sum(), "all_reduce 4096 B\n");
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 3U);
  expect_first_kernel(*ops[0]);
  EXPECT_EQ(std::get<CommunicationShape>(ops[1]->shape).buffer, bytes(4096));
  EXPECT_EQ(ops[1]->after.size(), 2U);  // each rank's first kernel
  EXPECT_EQ(loaded.summary.device.name, "AMD Instinct MI300X");
  EXPECT_EQ(loaded.summary.device.cus, 304);
  EXPECT_EQ(loaded.summary.recorded, microseconds(2 * (20 + 30)));
}

TEST_F(RocprofTrace, sizes_of_collectives_must_be_given) {
  EXPECT_NE(problems(two_ranks_that_sum())
                .find("kernel 'ncclDevKernel_Generic_4 of ncclAllReduce': the profile does not say "
                      "what 1 of them move; rocprofv3 does not record it; give collective_sizes"),
            std::string::npos);
}

TEST_F(RocprofTrace, the_call_that_launched_a_kernel_says_which_collective_it_is) {
  RocprofFile file;
  file.kernel(7, 20).collective(20, 500, kAllGather);
  EXPECT_NE(problems({file, file}, "all_reduce 4096 B\n").find("says all_reduce of 4096 B"),
            std::string::npos);
}

TEST_F(RocprofTrace, ranges_with_shapes_say_what_kernels_compute) {
  RocprofFile file;
  file.in_range("aten::mm, op_id = 40, sizes = [[1024, 256], [256, 512]]", 7, 20,
                "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1");
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto& kernel = std::get<RecordedShape>(of_rank(*loaded.graph, 0).at(0)->shape);
  ASSERT_TRUE(kernel.work && kernel.work->gemm);
  EXPECT_EQ(kernel.work->gemm->m, 1024);
  EXPECT_EQ(kernel.work->gemm->n, 512);
}

TEST_F(RocprofTrace, copies_without_a_stream_are_on_one_of_their_own_and_that_is_said) {
  RocprofFile file;
  file.kernel(7, 20).copy_without_stream(30, 1 << 20);
  const LoadedTrace loaded = load({file});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  const auto ops = of_rank(*loaded.graph, 0);
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_TRUE(ops[1]->after.empty());
  EXPECT_EQ(std::get<RecordedShape>(ops[1]->shape).work->written, mebibytes(1));
  EXPECT_EQ(loaded.summary.choices.back(),
            "copies, whose streams the profiles do not say, are on one of their own");
}

TEST_F(RocprofTrace, gpus_are_numbered_by_their_nodes) {
  RocprofFile second(2, 1);
  second.kernel(7, 40);
  RocprofFile first(2, 0);
  first.kernel(7, 20);
  const LoadedTrace loaded = load({first, second});
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 1).at(0)->shape).time, microseconds(40));
}

TEST_F(RocprofTrace, says_what_is_wrong_with_a_file) {
  RocprofFile nothing;
  EXPECT_NE(problems({nothing}).find("no kernels: nothing ran on a GPU, or kernels were not "
                                     "traced (--kernel-trace)"),
            std::string::npos);
  RocprofFile backwards;
  backwards.kernel(7, 20);
  backwards.json()["buffer_records"]["kernel_dispatch"][0]["end_timestamp"] = 5;
  EXPECT_NE(problems({backwards}).find("kernel 'gemm_kernel(int)': start_timestamp, end_timestamp"),
            std::string::npos);
  RocprofFile elsewhere;
  elsewhere.kernel(7, 20);
  elsewhere.json()["agents"].clear();
  EXPECT_NE(problems({elsewhere}).find("agent_id: 1000 is no GPU that agents lists"),
            std::string::npos);
  RocprofFile empty;
  empty.kernel(7, 20);
  empty.json()["buffer_records"]["kernel_dispatch"][0]["dispatch_info"]["grid_size"]["y"] = 0;
  EXPECT_NE(problems({empty}).find("grid_size, workgroup_size: must be three sizes above 0"),
            std::string::npos);
  std::ofstream(folder_.path("rank0_results.json")) << R"({"traceEvents": []})";
  EXPECT_NE(load_trace(work_, 1).problems.to_text().find(
                "rocprofiler-sdk-tool: missing; this is no JSON file of rocprofv3"),
            std::string::npos);
}

TEST_F(RocprofTrace, files_are_in_the_order_of_their_numbers) {
  std::vector<RocprofFile> files(11);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].kernel(7, 10 + static_cast<double>(i));
  const LoadedTrace loaded = load(files);
  ASSERT_TRUE(loaded.graph) << loaded.problems.to_text();
  EXPECT_EQ(std::get<RecordedShape>(of_rank(*loaded.graph, 10).at(0)->shape).time,
            microseconds(20));
}

}  // namespace
}  // namespace weft::rocprof_test
