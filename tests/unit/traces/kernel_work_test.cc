// Which operator a kernel's work comes from, and what ran beside others. Profiles written here, in
// the form of torch.profiler's with record_shapes=True: synthetic.
#include "sim/traces/pytorch/kernel_work.h"

#include <gtest/gtest.h>

#include "sim/traces/json_values.h"

namespace weft::kernel_work_test {
namespace {

struct Profile {
  Json events = Json::array();
  int correlation = 0;

  Profile& op(const char* name, double start, double us, const Json& dims = nullptr, int tid = 1) {
    Json arguments = {{"External id", 7}};
    if (!dims.is_null()) {
      arguments["Input Dims"] = dims;
      arguments["Input type"] = Json(dims.size(), "c10::BFloat16");
    }
    events.push_back({{"ph", "X"},
                      {"cat", "cpu_op"},
                      {"name", name},
                      {"tid", tid},
                      {"ts", start},
                      {"dur", us},
                      {"args", arguments}});
    return *this;
  }
  // Launched at this time, run at that.
  Profile& kernel(const char* name, double launched, double start, double us, int stream = 7,
                  int tid = 1) {
    ++correlation;
    events.push_back({{"ph", "X"},
                      {"cat", "cuda_runtime"},
                      {"name", "cudaLaunchKernel"},
                      {"tid", tid},
                      {"ts", launched},
                      {"dur", 1},
                      {"args", {{"External id", 7}, {"correlation", correlation}}}});
    events.push_back({{"ph", "X"},
                      {"cat", "kernel"},
                      {"name", name},
                      {"ts", start},
                      {"dur", us},
                      {"args",
                       {{"External id", 7},
                        {"stream", stream},
                        {"correlation", correlation},
                        {"grid", {132, 1, 1}},
                        {"block", {384, 1, 1}}}}});
    return *this;
  }
  Profile& fill(double launched, double start, double us, int bytes) {
    ++correlation;
    events.push_back({{"ph", "X"},
                      {"cat", "cuda_runtime"},
                      {"name", "cudaMemsetAsync"},
                      {"tid", 1},
                      {"ts", launched},
                      {"dur", 1},
                      {"args", {{"External id", 7}, {"correlation", correlation}}}});
    events.push_back({{"ph", "X"},
                      {"cat", "gpu_memset"},
                      {"name", "Memset (Device)"},
                      {"ts", start},
                      {"dur", us},
                      {"args", {{"stream", 7}, {"correlation", correlation}, {"bytes", bytes}}}});
    return *this;
  }
  [[nodiscard]] KinetoFile read() const {
    TraceProblems problems("test");
    KinetoFile file = read_kineto(Json{{"traceEvents", events}}.dump(), "rank0.json", problems);
    EXPECT_FALSE(problems.any()) << problems.all().to_text();
    return file;
  }
};

const Json kProduct = {{1024, 512}, {512, 2048}};

// 1 us of clearing, 1.5 between, 9 of the product: one kernel of 11.5 us from 37.5 on.
TEST(Counters, are_cleared_by_their_kernel) {
  const KinetoFile file = Profile()
                              .op("aten::mm", 10, 20, kProduct)
                              .fill(12, 37.5, 1, 4)
                              .kernel("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", 15, 40, 9)
                              .read();
  ASSERT_EQ(file.gpu.size(), 1U);
  EXPECT_EQ(file.gpu[0].start, 37'500);
  EXPECT_EQ(file.gpu[0].duration, 11'500);
}

// The host was late by 400 us: of these a boundary's three are the kernel's.
TEST(Counters, do_not_make_the_host_part_of_a_kernel) {
  const KinetoFile file = Profile()
                              .op("aten::mm", 10, 20, kProduct)
                              .fill(12, 37, 1, 4)
                              .kernel("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", 15, 438, 9)
                              .read();
  ASSERT_EQ(file.gpu.size(), 1U);
  EXPECT_EQ(file.gpu[0].duration, 13'000);
}

TEST(Counters, are_small_and_right_before_a_product) {
  const char* const kProductKernel = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
  EXPECT_EQ(Profile()
                .op("aten::mm", 10, 20, kProduct)
                .fill(12, 37, 1, 1 << 20)
                .kernel(kProductKernel, 15, 40, 9)
                .read()
                .gpu.size(),
            2U);
  EXPECT_EQ(Profile().fill(12, 37, 1, 4).kernel("other", 15, 40, 9).read().gpu.size(), 2U);
  EXPECT_EQ(Profile()
                .op("aten::mm", 10, 20, kProduct)
                .fill(12, 37, 1, 4)
                .kernel("other", 13, 39, 1)
                .kernel(kProductKernel, 15, 41, 9)
                .read()
                .gpu.size(),
            3U);
}

TEST(KernelWork, comes_from_the_innermost_operator_on_the_launching_thread) {
  const KinetoFile file = Profile()
                              .op("aten::linear", 0, 100, {{1, 1024, 512}, {2048, 512}})
                              .op("aten::mm", 10, 20, kProduct)
                              .op("aten::copy_", 10, 20, {{8, 8}, {8, 8}}, 2)
                              .kernel("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", 15, 40, 9)
                              .kernel("after_it", 50, 60, 9)  // in aten::linear, which says nothing
                              .kernel("of_none", 200, 210, 9)
                              .read();
  ASSERT_TRUE(file.gpu[0].work && file.gpu[0].work->gemm);
  EXPECT_EQ(file.gpu[0].work->gemm->n, 2048);
  EXPECT_EQ(file.gpu[0].work->gemm->tile_m, 128);
  EXPECT_FALSE(file.gpu[1].work);
  EXPECT_FALSE(file.gpu[2].work);
}

TEST(KernelWork, of_several_kernels_of_an_operator_is_the_longest_ones) {
  const KinetoFile file = Profile()
                              .op("aten::mm", 0, 20, kProduct)
                              .kernel("memset_like", 1, 30, 2)
                              .kernel("nvjet_sm90_tst_256x128_64x4_splitK", 5, 40, 9)
                              .kernel("void cublasLt::splitKreduce_kernel<32, 16>(int)", 9, 50, 3)
                              .read();
  EXPECT_FALSE(file.gpu[0].work);
  EXPECT_TRUE(file.gpu[1].work);
  EXPECT_FALSE(file.gpu[2].work);
}

// Of 100 us the other stream's kernel shares 50, and later ones 4, which is under a twentieth.
TEST(KernelWork, beside_is_what_shared_the_gpu_with_another_stream) {
  const KinetoFile file = Profile()
                              .kernel("gemm", 0, 100, 100)
                              .kernel("ncclDevKernel_AllGather", 1, 150, 200, 20)
                              .kernel("next", 2, 346, 100)
                              .kernel("same_stream", 3, 440, 100)
                              .read();
  EXPECT_TRUE(file.gpu[0].beside);
  EXPECT_TRUE(file.gpu[1].beside);
  EXPECT_FALSE(file.gpu[2].beside);
  EXPECT_FALSE(file.gpu[3].beside);
}

TEST(KernelWork, a_step_keeps_what_was_launched_in_it) {
  Profile profile;
  profile.kernel("first", 10, 300, 9).kernel("second", 110, 310, 9);
  for (const int step : {3, 4}) {
    profile.events.push_back({{"ph", "X"},
                              {"cat", "user_annotation"},
                              {"name", "ProfilerStep#" + std::to_string(step)},
                              {"tid", 1},
                              {"ts", (step - 3) * 100},
                              {"dur", 90}});
  }
  KinetoFile file = profile.read();
  ASSERT_EQ(file.steps.size(), 2U);
  EXPECT_EQ(file.steps[1].number, 4);
  keep_step(file, ProfilerStep(file.steps[1]));
  ASSERT_EQ(file.gpu.size(), 1U);
  EXPECT_EQ(file.gpu[0].name, "second");
  EXPECT_EQ(file.host.size(), 1U);
}

}  // namespace
}  // namespace weft::kernel_work_test
