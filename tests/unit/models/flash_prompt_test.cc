// Prompts by FlashAttention-2's kernel, of which several WGs share a CU.
#include "sim/models/flash_prompt.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sim/gpu_model/residency.h"

namespace weft::flash_prompt_test {
namespace {

// One CU that multiplies 2^22 a us and exponentiates 2^14 a us, so that a block of 128 keys takes
// 2 us of the former (heads of 128 elements; of 64 elements 1 us) and 1 us of the latter; HBM so
// fast that rows come at once.
GpuSpec gpu() {
  GpuSpec made;
  made.cus = 1;
  made.wave_size = 32;
  made.cu.waves = 64;
  made.cu.registers = 65'536;
  made.cu.lds = bytes(232'448);
  made.cu.wgs = 32;
  made.bf16_matrix = FlopRate::from_count(4'194'304'000'000);
  made.fp32_vector = gigaflops(1'000);
  made.memory.bandwidth = gigabytes_per_second(1'000'000);
  LibraryAttentionSpec library;
  library.efficiency = 1;
  library.exponentials = FlopRate::from_count(16'384'000'000);
  library.start = microseconds(1);
  library.flash_2 =
      FlashPromptSpec{.alone = 0.5, .masked = nanoseconds(250), .ragged = microseconds(2)};
  made.library_attention = library;
  return made;
}

AttentionShape prompts(std::int64_t heads, std::int64_t tokens, std::int64_t dim = 128) {
  return {.batch = 1,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = dim,
          .value_head_dim = dim,
          .queries = tokens,
          .keys = tokens,
          .causal = false};
}

AttentionShape causal(AttentionShape shape) {
  shape.causal = true;
  return shape;
}

// The time of each WG with a CU's arithmetic to itself, in us, in their order.
std::vector<double> times_us(const AttentionShape& shape) {
  const OpKernel kernel = flash_prompt_kernel(shape, gpu());
  const Work& work = kernel.works.at(0);
  std::vector<double> times;
  for (const OpKernel::Run& run : kernel.runs) {
    const double of_all = to_seconds(work.arithmetic_alone) * 1e6 * work.arithmetic_share / 1000;
    times.insert(times.end(), run.count, of_all * run.scale / Item::kUnit);
  }
  return times;
}

void expect_times(const AttentionShape& shape, const std::vector<double>& expected) {
  const std::vector<double> times = times_us(shape);
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], expected[i], 0.01) << i;
}

// 256 tokens: each block of queries goes through 256 keys: 1 + 2 x (2 + 1) us.
TEST(FlashPrompt, a_block_waits_for_its_products_and_its_softmax_in_turn) {
  expect_times(prompts(1, 256), {7, 7});
  // Heads of 64 elements: 1 + 2 x (1 + 1).
  expect_times(prompts(1, 256, 64), {5, 5});
}

// 384 tokens under a mask: 128, 256, 384 keys, each with 0.25 us; the longest begins last.
TEST(FlashPrompt, under_a_mask_the_longest_block_is_the_last_of_its_head) {
  expect_times(causal(prompts(2, 384)), {4.25, 7.25, 10.25, 4.25, 7.25, 10.25});
}

// 320 tokens: the last block has 64 queries and 320 keys, five blocks of 64; those of several
// blocks take 2 us more. Without a mask the tokens that are missing cost nothing.
TEST(FlashPrompt, tokens_that_do_not_fill_their_blocks_cost_under_a_mask) {
  expect_times(causal(prompts(1, 320)), {4.25, 9.25, 10.75});
  expect_times(prompts(1, 320), {8.5, 8.5, 8.5});
}

// A window of 129 keys: the third block's first query, 256, sees keys from 128 on. 2 us more, since
// a window masks more steps.
TEST(FlashPrompt, blocks_before_a_window_are_left_out) {
  AttentionShape shape = causal(prompts(1, 384));
  shape.window = 129;
  expect_times(shape, {4.25, 9.25, 9.25});
}

TEST(FlashPrompt, two_work_groups_share_a_cu_of_which_one_takes_a_part) {
  const OpKernel kernel = flash_prompt_kernel(prompts(1, 256), gpu());
  EXPECT_EQ(resident_on_gpu(gpu(), kernel.wg, {}), 2);
  EXPECT_EQ(kernel.works.at(0).arithmetic_share, 500U);
}

TEST(FlashPrompt, of_several_sequences_goes_head_after_head_of_each) {
  AttentionShape shape = causal(prompts(2, 256));
  shape.batch = 2;
  expect_times(shape, {4.25, 7.25, 4.25, 7.25, 4.25, 7.25, 4.25, 7.25});
}

// 128 queries after 256 earlier ones see all of 384 keys, three blocks.
TEST(FlashPrompt, later_queries_see_earlier_keys) {
  AttentionShape shape = causal(prompts(1, 128));
  shape.keys = 384;
  expect_times(shape, {10.25});
}

// Values of 64 elements: 1.5 us of products for a block of 128 keys.
TEST(FlashPrompt, values_may_be_shorter_than_keys) {
  AttentionShape shape = prompts(1, 128);
  shape.value_head_dim = 64;
  expect_times(shape, {3.5});
}

TEST(FlashPrompt, equal_blocks_are_one_run) {
  const OpKernel kernel = flash_prompt_kernel(prompts(64, 1024), gpu());
  ASSERT_EQ(kernel.runs.size(), 1U);
  EXPECT_EQ(kernel.runs[0].count, 64U * 8);
}

TEST(FlashPrompt, a_work_group_that_nothing_fits_beside_has_all_of_its_cu) {
  GpuSpec small = gpu();
  small.cu.lds = kibibytes(100);
  EXPECT_EQ(flash_prompt_kernel(prompts(1, 256), small).works.at(0).arithmetic_share, 1000U);
}

TEST(FlashPrompt, longer_heads_have_another_kernel) {
  EXPECT_TRUE(is_flash_prompt(prompts(1, 256), gpu()));
  EXPECT_FALSE(is_flash_prompt(prompts(1, 256, 192), gpu()));
  AttentionShape backward = prompts(1, 256);
  backward.backward = true;
  EXPECT_FALSE(is_flash_prompt(backward, gpu()));
}

// 1.024 us more for 128 rows of 256 elements of 2 B that a CU brings at 64 GB/s; alone it has half
// of its CU.
TEST(FlashPrompt, queries_and_results_take_the_cus_share_of_the_hbm) {
  GpuSpec slow = gpu();
  const OpKernel fast = flash_prompt_kernel(prompts(1, 128), slow);
  slow.memory.bandwidth = gigabytes_per_second(64);
  const OpKernel kernel = flash_prompt_kernel(prompts(1, 128), slow);
  EXPECT_NEAR(to_seconds(kernel.works.at(0).arithmetic_alone - fast.works.at(0).arithmetic_alone),
              2.048e-6, 1e-8);
}

}  // namespace
}  // namespace weft::flash_prompt_test
