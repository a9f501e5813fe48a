// Profiles of torch.profiler on ROCm: what Kineto writes there (RoctracerLogger.cpp,
// RocprofLogger.cpp and RocprofActivity_inl.h of pytorch/kineto), and a GEMM of hipBLASLt on an
// MI300X with the grid, names and shapes of a public profile (AMD-AGI/TraceLens,
// gemm_01_compute_few_tiles).
#include <gtest/gtest.h>

#include <string>

#include "sim/traces/pytorch/kineto_file.h"

namespace weft {
namespace {

constexpr const char* kGemm = "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_1LDSB0_GSU2";

std::string profile_of(const std::string& events) {
  return R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}";
}

const char* const kOperator =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1979, "tid": 1979, "ts": 100,
        "dur": 26, "args": {"External id": 513, "Input type": ["c10::BFloat16", "c10::BFloat16"],
        "Input Dims": [[256, 131072], [131072, 512]]}},)";

// C of 256 x 512 is two tiles of 256 columns by two of 128 rows, each of two parts of k. The grid
// counts work-items: 512 x 4 of them are 2 x 4 work-groups of 256.
void expect_gemm(const KinetoFile& file) {
  ASSERT_EQ(file.gpu.size(), 1U);
  const GpuEvent& kernel = file.gpu[0];
  EXPECT_EQ(kernel.wgs, 8);
  EXPECT_EQ(kernel.threads, 256);
  EXPECT_FALSE(kernel.without_grid);
  ASSERT_TRUE(kernel.work && kernel.work->gemm);
  EXPECT_EQ(kernel.work->gemm->m, 256);
  EXPECT_EQ(kernel.work->gemm->n, 512);
  EXPECT_EQ(kernel.work->gemm->tile_n, 256);
  EXPECT_EQ(kernel.work->gemm->tile_m, 128);
  EXPECT_EQ(kernel.work->gemm->split_k, 2);
}

KinetoFile read(const std::string& events) {
  TraceProblems problems("rocm");
  KinetoFile file = read_kineto(profile_of(events), "rank0.json", problems);
  EXPECT_FALSE(problems.any());
  return file;
}

TEST(RocmProfile, grids_of_hipblaslt_count_work_items) {
  expect_gemm(read(
      std::string(kOperator) +
      R"({"ph": "X", "cat": "cuda_runtime", "name": "hipExtModuleLaunchKernel", "pid": 1979,
          "tid": 1979, "ts": 110, "dur": 2, "args": {"External id": 513, "cid": 231,
          "correlation": 7, "grid": [512, 4, 1], "block": [256, 1, 1], "shared memory": 0}},
         {"ph": "X", "cat": "kernel", "name": ")" +
      kGemm +
      R"(", "pid": 2, "tid": 0, "ts": 177, "dur": 1085, "args": {"External id": 513, "device": 2,
          "stream": 0, "correlation": 7, "kind": "Dispatch Kernel", "grid": [512, 4, 1],
          "block": [256, 1, 1]}})"));
}

// One number joins a kernel and its launch, which alone has the grid; GPUs are processes.
TEST(RocmProfile, older_ones_have_the_grid_with_the_launch) {
  const KinetoFile file = read(
      std::string(kOperator) +
      R"({"ph": "X", "cat": "cuda_runtime", "name": "hipExtModuleLaunchKernel", "pid": 1979,
          "tid": 1979, "ts": 110, "dur": 2, "args": {"External id": 25, "shared size": 0,
          "stream": "0x0", "block dim": [256, 1, 1], "grid dim": [512, 4, 1]}},
         {"ph": "X", "cat": "kernel", "name": ")" +
      kGemm + R"(", "pid": 2, "tid": 3, "ts": 177, "dur": 1085, "args": {"External id": 25}})");
  expect_gemm(file);
  EXPECT_EQ(file.gpu[0].device, 2);
  EXPECT_EQ(file.gpu[0].stream, 3);
  EXPECT_EQ(file.gpu[0].correlation, 25);
}

// Other launches count work-groups.
TEST(RocmProfile, grids_of_other_launches_count_work_groups) {
  const KinetoFile file = read(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "tid": 1, "ts": 10, "dur": 2,
          "args": {"correlation": 7, "grid": [512, 4, 1], "block": [256, 1, 1]}},
         {"ph": "X", "cat": "kernel", "name": "k", "ts": 20, "dur": 5, "args": {"device": 0,
          "stream": 1, "correlation": 7, "grid": [512, 4, 1], "block": [256, 1, 1]}})");
  ASSERT_EQ(file.gpu.size(), 1U);
  EXPECT_EQ(file.gpu[0].wgs, 2048);
}

TEST(RocmProfile, kernels_of_a_graph_have_no_grid) {
  const KinetoFile file = read(
      R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 20, "dur": 5, "args": {"device": 0,
          "stream": 1, "correlation": 7, "kind": "Dispatch Task"}})");
  ASSERT_EQ(file.gpu.size(), 1U);
  EXPECT_TRUE(file.gpu[0].without_grid);
  EXPECT_EQ(file.gpu[0].wgs, 1);
}

TEST(RocmProfile, a_grid_that_cannot_be_is_a_problem) {
  TraceProblems problems("rocm");
  read_kineto(profile_of(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 20, "dur": 5, "args":
                             {"correlation": 7, "grid": [0, 4, 1], "block": [256, 1, 1]}})"),
              "rank0.json", problems);
  EXPECT_NE(problems.all().to_text().find("kernel 'k': grid, block: must be three sizes above 0"),
            std::string::npos);
}

TEST(RocmProfile, kernels_of_rccl_are_the_librarys) {
  for (const char* name :
       {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_Generic(ncclDevKernelArgs4K)", "ncclKernel_AllReduce(int)",
        "void rcclGenericKernel<1, false>(ncclDevComm*)", "mscclKernel_Sum_half_LL_false(int)"}) {
    EXPECT_TRUE(is_library_collective(name)) << name;
  }
  EXPECT_FALSE(is_library_collective("void my_ncclKernel(int)"));
}

// Copies of PyTorch between the host and a GPU: a launch, and a wait for what it launched.
TEST(RocmProfile, copies_that_come_back_when_they_have_ended_are_waits) {
  const KinetoFile file = read(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "hipMemcpyWithStream", "tid": 1, "ts": 10,
          "dur": 40, "args": {"correlation": 7, "src": "0x1", "dst": "0x2", "bytes": "4096"}},
         {"ph": "X", "cat": "cuda_runtime", "name": "hipMemcpyAsync", "tid": 1, "ts": 60,
          "dur": 2, "args": {"correlation": 8}})");
  ASSERT_EQ(file.host.size(), 3U);
  EXPECT_EQ(file.host[0].kind, HostEvent::Kind::runtime);
  EXPECT_EQ(file.host[1].kind, HostEvent::Kind::waits_stream);
  EXPECT_EQ(file.host[1].duration, 40'000);
  EXPECT_EQ(file.host[2].kind, HostEvent::Kind::runtime);
}

}  // namespace
}  // namespace weft
