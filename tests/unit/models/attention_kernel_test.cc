// Attention's kernels as libraries cut them (cuDNN 9 on an H200), and the streams around the
// backward one.
#include "sim/models/attention_kernel.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/models/attention_gradients.h"

namespace weft::attention_kernel_test {
namespace {

// Four CUs; one block of 128 x 128 at a time.
GpuSpec gpu(int cus = 4) {
  GpuSpec made;
  made.cus = cus;
  made.wave_size = 32;
  made.cu.waves = 64;
  made.cu.registers = 65'536;
  made.cu.lds = bytes(232'448);
  made.cu.wgs = 32;
  made.bf16_matrix = gigaflops(4'000);
  made.fp32_vector = gigaflops(1'000);
  made.memory.bandwidth = gigabytes_per_second(4'000);
  made.memory.latency = nanoseconds(500);
  made.l2.latency = nanoseconds(200);
  made.library_attention = LibraryAttentionSpec{.efficiency = 1,
                                                .backward_efficiency = 1,
                                                .exponentials = gigaflops(1'000),
                                                .setup = microseconds(3),
                                                .start = microseconds(1),
                                                .backward_start = microseconds(5),
                                                .split_start = microseconds(2),
                                                .sum = microseconds(7)};
  return made;
}

AttentionShape prompts(std::int64_t heads, std::int64_t tokens) {
  return {.batch = 1,
          .heads = heads,
          .kv_heads = heads,
          .head_dim = 128,
          .value_head_dim = 128,
          .queries = tokens,
          .keys = tokens};
}

AttentionShape decoding(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads,
                        std::int64_t keys) {
  AttentionShape shape = prompts(heads, keys);
  shape.batch = batch;
  shape.kv_heads = kv_heads;
  shape.queries = 1;
  shape.causal = false;
  return shape;
}

struct Block {
  std::uint32_t scale;
  Duration fixed;
};
std::vector<Block> blocks_of(const OpKernel& kernel) {
  std::vector<Block> blocks;
  for (const OpKernel::Run& run : kernel.runs) {
    blocks.insert(blocks.end(), run.count, {run.scale, kernel.works[run.work].fixed});
  }
  return blocks;
}

// 384 tokens are three blocks of 128 queries, which see 3, 2 and 1 blocks of keys: of the first
// head, then of the second.
TEST(AttentionKernel, blocks_follow_one_another_head_by_head_from_the_last) {
  const std::vector<Block> blocks = blocks_of(attention_kernel(prompts(2, 384), gpu()));
  ASSERT_EQ(blocks.size(), 6U);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_NEAR(blocks[i].scale, Item::kUnit * static_cast<double>(3 - i % 3) / 3, 1) << i;
  }
}

// The counter is cleared once, before the first WG of each of the four CUs.
TEST(AttentionKernel, the_first_wg_of_each_cu_waits_for_the_setup) {
  const std::vector<Block> blocks = blocks_of(attention_kernel(prompts(2, 384), gpu()));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].fixed, microseconds(i < 4 ? 3 + 1 : 1)) << i;
  }
}

TEST(AttentionKernel, a_block_of_keys_starts_later_than_one_of_queries) {
  AttentionShape backward = prompts(2, 384);
  backward.backward = true;
  EXPECT_EQ(blocks_of(attention_kernel(backward, gpu())).back().fixed, microseconds(5));
}

// 132 CUs and 42 heads with their own keys: 2 parts are 84 WGs, 4 are 168.
TEST(AttentionKernel, keys_are_split_until_every_cu_has_a_wg) {
  const std::vector<Block> wgs = blocks_of(attention_kernel(decoding(42, 1, 1, 11'709), gpu(132)));
  EXPECT_EQ(wgs.size(), 168U);
  EXPECT_EQ(wgs[0].fixed, microseconds(2 + 7));
}

// 300 keys are too few for two parts of 256.
TEST(AttentionKernel, few_keys_are_not_split) {
  const std::vector<Block> wgs = blocks_of(attention_kernel(decoding(1, 8, 8, 300), gpu(132)));
  EXPECT_EQ(wgs.size(), 8U);
  EXPECT_EQ(wgs[0].fixed, microseconds(2));
}

// 64 heads that share keys are four WGs of 16 rows: the keys come from memory once.
TEST(AttentionKernel, rows_that_share_keys_are_read_16_to_a_wg) {
  const OpKernel kernel = attention_kernel(decoding(4, 64, 1, 400), gpu(4));
  EXPECT_EQ(blocks_of(kernel).size(), 4U * 4U);
  EXPECT_EQ(kernel.works[0].traffic, bytes(400 * 256 * 2 / 4));
}

// 12 sequences of 1,856 tokens, 32 heads of 128 elements on 8 of keys: a tensor of all heads has
// 12 x 1856 x 32 x 128 = 91.2 M elements.
TEST(AttentionGradients, are_streams_around_the_backward_kernel) {
  AttentionShape shape = prompts(32, 1'856);
  shape.batch = 12;
  shape.kv_heads = 8;
  const std::int64_t all = 12LL * 1'856 * 32 * 128;
  const StreamShape before = attention_row_sums(shape);
  EXPECT_EQ(before.read, bytes(all * 2 * 2));  // results and their gradients, bf16
  EXPECT_EQ(before.written, bytes(all * 4));   // the queries' gradients cleared, fp32
  EXPECT_EQ(attention_query_gradients(shape).read, bytes(all * 4));
  EXPECT_EQ(attention_query_gradients(shape).written, bytes(all * 2));
  EXPECT_TRUE(shares_keys(shape));
  EXPECT_EQ(attention_shared_gradients(shape, 128).read, bytes(all * 2));
  EXPECT_EQ(attention_shared_gradients(shape, 128).written, bytes(all * 2 / 4));
}

}  // namespace
}  // namespace weft::attention_kernel_test
