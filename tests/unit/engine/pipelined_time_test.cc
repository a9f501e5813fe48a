// What mode pipelined takes, where it can be counted by hand.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/engine/toy_gemm.h"

namespace weft::pipelined_time_test {
namespace {

// The toy's copy engines at this rate.
Scenario toy(const std::string& kind, const std::string& engine,
             std::vector<std::string> sets = {}) {
  sets.push_back("cluster.gpu.dma.rate=" + engine);
  return toy_gemm(kind, std::move(sets));
}

double time_us(const Scenario& scenario) { return weft::time_us(scenario, Mode::pipelined); }

constexpr double kPart = 1.4;  // the last 64 KiB of a copy, on the link

TEST(PipelinedTime, of_a_short_copy_is_that_of_both_kernels_and_four_boundaries) {
  // Barrier, copy of the own rows, barrier, own part: four launches before its 200 us; the peer's
  // rows take 4 MB / 40 GB/s = 100 us meanwhile, its part the next 200; then the last barrier.
  EXPECT_NEAR(time_us(toy("all_gather_gemm", "40 GB/s")), 4 + 200 + 200 + 1, 0.01);
  // Two launches before the peer's part, whose results travel for 320 kB / 2 GB/s = 160 us while
  // the own part takes 200; a barrier, and the kernel that adds up.
  EXPECT_NEAR(time_us(toy("gemm_reduce_scatter", "2 GB/s")), 2 + 200 + 200 + 1 + 1, 0.01);
  EXPECT_NEAR(time_us(toy("gemm_all_to_all", "2 GB/s")), 2 + 200 + 200 + 1, 0.01);
}

TEST(PipelinedTime, of_a_long_copy_is_that_of_the_copy_and_one_kernel) {
  // Three launches, that of the copy, 4 MB / 10 GB/s = 400 us, launch, the peer's part, barrier.
  EXPECT_NEAR(time_us(toy("all_gather_gemm", "10 GB/s")), 4 + 400 + 1 + 200 + 1, kPart);
  // The peer's part; barrier, copy of 320 us, barrier, each launched; the last barrier, and the
  // sum.
  EXPECT_NEAR(time_us(toy("gemm_reduce_scatter", "1 GB/s")), 2 + 200 + 1 + 1 + 320 + 1 + 1 + 1,
              70);  // of 64 KiB at 1 GB/s
}

TEST(PipelinedTime, has_barriers_as_long_as_a_flag_to_a_peer_or_a_fence) {
  const std::vector<std::string> far = {"cluster.scale_up.link.latency=3 us",
                                        "cluster.gpu.peer_store.flag=2 us",
                                        "cluster.gpu.peer_store.fence=4 us"};
  // Three barriers of 3 us to the peer and 4 us of the fence, longer than the 2 us of the flag.
  EXPECT_NEAR(time_us(toy("all_gather_gemm", "40 GB/s", far)), 405 + 3 * (3 + 4), 0.01);
}

TEST(PipelinedTime, has_barriers_that_take_flags_by_compare_and_swap) {
  EXPECT_NEAR(time_us(toy("all_gather_gemm", "40 GB/s", {"cluster.gpu.peer_store.swap=5 us"})),
              405 + 3 * 5, 0.01);
}

// Two copies begin 60 us x 1/3 and 2/3 after a first look that is 30 us before the mean: the
// barrier waits for the one that is 10 us late. Of one GPU's copies the mean counts.
TEST(PipelinedTime, has_copies_that_begin_when_their_engines_look) {
  const auto by = [](const std::string& poll) {
    return time_us(toy("gemm_reduce_scatter", "1 GB/s",
                       {"cluster.gpu.dma.schedule=30 us", "cluster.gpu.dma.poll=" + poll}));
  };
  EXPECT_NEAR(by("60 us") - by("0 us"), 10, 0.01);
  EXPECT_NEAR(by("90 us") - by("0 us"), 10, 0.01);  // no sooner than at once
}

TEST(PipelinedTime, starts_no_copy_before_its_barrier) {
  // A GPU at half of the speed makes the peer's part for 400 us; the other waits for it at the
  // barrier, copies for 160 us, and is done; the slow one takes 400 us more for its own.
  const Scenario slow =
      toy("gemm_all_to_all", "2 GB/s", {"cluster.stragglers=[{gpu: 0, clock: 0.5}]"});
  EXPECT_NEAR(time_us(slow), 2 + 400 + 400 + 1, 0.01);
  const RunResult result = run(slow, Mode::pipelined);
  for (const OperatorUse& use : result.operators) {
    if (!use.name.starts_with("all_to_all.1")) continue;
    EXPECT_GE(to_microseconds(use.last_end - SimTime{}), 2 + 400 + 160);
  }
}

TEST(PipelinedTime, has_barriers_that_wait_for_room_beside_the_other_streams_kernel) {
  // The own part's tiles come first where a CU holds one WG: the barrier is placed behind the last
  // of them, at 402 us. Then the launch of the copy and its 160 us, a barrier and the last one.
  const Scenario full = toy("gemm_all_to_all", "2 GB/s", {"cluster.gpu.cu.wgs=1"});
  EXPECT_NEAR(time_us(full), 402 + 1 + 160 + 1 + 1, kPart);
}

}  // namespace
}  // namespace weft::pipelined_time_test
