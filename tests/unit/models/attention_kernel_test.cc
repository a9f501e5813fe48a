// Attention's kernels as libraries cut them (cuDNN 9 on an H200), and the streams around the
// backward one.
#include "sim/models/attention_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

AttentionShape windowed(std::int64_t tokens, std::int64_t window) {
  AttentionShape shape = prompts(1, tokens);
  shape.window = window;
  return shape;
}
// Of each block, how many of 128 x 128 it computes, the last block first.
std::vector<double> computed(const AttentionShape& shape, double most) {
  std::vector<double> blocks;
  for (const Block& block : blocks_of(attention_kernel(shape, gpu()))) {
    blocks.push_back(std::round(block.scale * most / Item::kUnit * 1000) / 1000);
  }
  return blocks;
}

// Five blocks of queries. With a window of 128 the first query of a block sees the last 127 keys of
// the block before; with one of 130 also one of the block before that.
TEST(AttentionKernel, a_window_leaves_out_whole_blocks) {
  EXPECT_EQ(computed(windowed(640, 128), 2), (std::vector<double>{2, 2, 2, 2, 1}));
  EXPECT_EQ(computed(windowed(640, 129), 2), (std::vector<double>{2, 2, 2, 2, 1}));
  EXPECT_EQ(computed(windowed(640, 130), 3), (std::vector<double>{3, 3, 3, 2, 1}));
  EXPECT_EQ(computed(windowed(640, 640), 5), (std::vector<double>{5, 4, 3, 2, 1}));  // none
}

// The last key of a block is seen by 127 queries after it: those of one more block.
TEST(AttentionKernel, a_window_leaves_out_later_queries_of_a_block_of_keys) {
  AttentionShape backward = windowed(640, 128);
  backward.backward = true;
  EXPECT_EQ(computed(backward, 2), (std::vector<double>{1, 2, 2, 2, 2}));
  backward.window = 130;
  EXPECT_EQ(computed(backward, 3), (std::vector<double>{1, 2, 3, 3, 3}));
}

// The last 256 queries of 640 keys: both blocks have three behind them, of which they see one.
TEST(AttentionKernel, a_window_of_later_queries) {
  AttentionShape shape = windowed(640, 128);
  shape.queries = 256;
  EXPECT_EQ(computed(shape, 2), (std::vector<double>{2, 2}));
}

// 2 x 2 x 128 x 256 x 256 operations for two blocks of keys; queries and results of its own, and
// one block of keys and values, since two WGs go through each: 2 x 128 x 256 elements of 2 B.
TEST(AttentionKernel, a_window_is_read_once) {
  const Work work = attention_kernel(windowed(640, 128), gpu()).works[0];
  EXPECT_EQ(work.flops, flops(2LL * 128 * 256 * 256));
  EXPECT_EQ(work.traffic, bytes(2 * 128 * 256 * 2));
}

// Where the kernel was not measured it takes what its pairs take, on average over a block.
TEST(AttentionKernel, a_window_is_as_long_as_it_is_where_nothing_was_measured) {
  GpuSpec other = gpu();
  other.library_attention.reset();
  const std::vector<Block> blocks = blocks_of(attention_kernel(windowed(384, 100), other));
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].scale, Item::kUnit);
  EXPECT_EQ(blocks[1].scale, Item::kUnit);
  EXPECT_NEAR(blocks[2].scale, 0.64 * Item::kUnit, 1);  // its middle query sees 64
}

TEST(AttentionKernel, one_token_reads_the_keys_of_its_window) {
  AttentionShape shape = decoding(4, 64, 1, 4'096);
  shape.causal = true;
  shape.window = 400;
  EXPECT_EQ(attention_kernel(shape, gpu(4)).works[0].traffic,
            attention_kernel(decoding(4, 64, 1, 400), gpu(4)).works[0].traffic);
}

// Query by query: the last of `queries` sees all keys, each no more than its window.
TEST(AttentionShape, has_the_pairs_of_each_query) {
  for (const std::int64_t queries : {1, 5, 20}) {
    for (const std::int64_t window : {0, 1, 3, 17, 19, 20, 30}) {
      AttentionShape shape = windowed(20, window);
      shape.queries = queries;
      std::int64_t pairs = 0;
      for (std::int64_t seen = 20 - queries + 1; seen <= 20; ++seen) {
        pairs += window > 0 ? std::min(window, seen) : seen;
      }
      EXPECT_EQ(flops_of(shape), flops(2 * 256 * pairs)) << queries << " " << window;
    }
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

// 64 heads that share keys are four WGs of 16 rows: the keys come from memory once, and each WG's
// queries and results.
TEST(AttentionKernel, rows_that_share_keys_are_read_16_to_a_wg) {
  const OpKernel kernel = attention_kernel(decoding(4, 64, 1, 400), gpu(4));
  EXPECT_EQ(blocks_of(kernel).size(), 4U * 4U);
  EXPECT_EQ(kernel.works[0].traffic, bytes((400 / 4 + 16) * 256 * 2));
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
