// Decoding: how many parts the keys are split into, and what WGs read and wait for.
#include "sim/models/split_keys.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/models/attention_kernel.h"

namespace weft::split_keys_test {
namespace {

// 132 CUs of 1 TFLOP/s each.
GpuSpec gpu(EngineKernel kernel) {
  GpuSpec made;
  made.cus = 132;
  made.wave_size = 32;
  made.cu.waves = 64;
  made.cu.registers = 65'536;
  made.cu.lds = bytes(232'448);
  made.cu.wgs = 32;
  made.bf16_matrix = gigaflops(132'000);
  made.memory.bandwidth = gigabytes_per_second(4'000);
  made.memory.latency = nanoseconds(500);
  made.l2.latency = nanoseconds(200);
  made.l2.capacity = mebibytes(60);
  made.l2.dies = 1;
  made.l2.copies = 2;
  made.engine_attention = EngineAttentionSpec{.kernel = kernel,
                                              .efficiency = 1,
                                              .exponentials = gigaflops(132'000),
                                              .start = microseconds(3),
                                              .sum = microseconds(5),
                                              .part = microseconds(1),
                                              .regroup = microseconds(11)};
  return made;
}

AttentionShape decoding(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads,
                        std::int64_t keys) {
  AttentionShape shape;
  shape.batch = batch;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.head_dim = 128;
  shape.value_head_dim = 128;
  shape.queries = 1;
  shape.keys = keys;
  shape.causal = false;
  shape.engine = true;
  return shape;
}

std::int64_t wgs_of(const OpKernel& kernel) {
  std::int64_t wgs = 0;
  for (const OpKernel::Run& run : kernel.runs) wgs += run.count;
  return wgs;
}

// Grids of flash_fwd_splitkv_kernel in profiles of an H200 with 132 SMs
// (calibration/measurements/h200-pytorch-attention*.jsonl): sequences, heads of keys, blocks.
TEST(FlashParts, are_those_of_profiles) {
  const auto parts = [](std::int64_t sequences, std::int64_t heads, std::int64_t blocks) {
    return flash_parts(EngineKernel::flash_2, {sequences, heads, blocks}, 132);
  };
  EXPECT_EQ(parts(1, 1, 2), 2);
  EXPECT_EQ(parts(61, 1, 49), 4);     // 6,239 keys
  EXPECT_EQ(parts(2, 1, 172), 86);    // 21,902 keys: 2 blocks each, as with any from 86 to 171
  EXPECT_EQ(parts(5, 32, 68), 3);     // 480 WGs fill 0.91 of two rounds
  EXPECT_EQ(parts(8, 16, 74), 2);     // 9,400 keys
  EXPECT_EQ(parts(71, 4, 27), 1);     // more than fit
  EXPECT_EQ(parts(53, 4, 1'000), 1);  // 212 of 264 slots are 0.8
}

// One sequence of 16,384 keys: 128 x 1.1 blocks on 132 CUs are two each: 64 parts. Of 7 blocks of
// ten heads each CU would have one, but 6 parts already fill 0.85 of what 7 do. 16 sequences of
// eight heads have 35 of their 32 blocks on a CU.
TEST(FlashParts, of_flash_3_have_the_blocks_of_a_cu) {
  const auto parts = [](std::int64_t sequences, std::int64_t heads, std::int64_t blocks) {
    return flash_parts(EngineKernel::flash_3, {sequences, heads, blocks}, 132);
  };
  EXPECT_EQ(parts(1, 1, 128), 64);
  EXPECT_EQ(parts(1, 10, 7), 6);
  EXPECT_EQ(parts(16, 8, 32), 1);
  EXPECT_EQ(parts(1, 10, 4), 1);
}

// 61 sequences, 49 blocks of 128 keys in 4 parts: three of 13 blocks and one with the 1,247 keys
// that are left. After them a kernel joins the four: 5 + 4 x 1 us, and what it moves: 2 x 4 parts x
// 61 x 8 heads x 128 x 4 B at 4 TB/s, 0.5 us.
TEST(EngineDecoding, splits_keys_and_joins_the_parts) {
  const OpKernel kernel =
      attention_kernel(decoding(61, 8, 1, 6'239), gpu(EngineKernel::flash_2_paged));
  EXPECT_EQ(wgs_of(kernel), 61 * 4);
  EXPECT_EQ(kernel.runs.back().count, 61U);
  EXPECT_EQ(kernel.runs.back().scale,
            std::llround(1'247.0 / (13 * 128) * static_cast<double>(Item::kUnit)));
  EXPECT_EQ(kernel.wg.lds, bytes((64 + 2 * 128) * 128 * 2));
  EXPECT_EQ(kernel.works.back().fixed,
            microseconds(3 + 5 + 4) +
                transfer_time(bytes(2LL * 4 * 61 * 8 * 128 * 4), gigabytes_per_second(4'000)));
  // A part's keys and values, and queries of eight heads.
  EXPECT_EQ(kernel.works[0].traffic, bytes(13 * 128 * 256 * 2 + 8 * 128 * 2));
}

// Six parts of seven blocks have two, two, two and one: two have none.
TEST(EngineDecoding, of_flash_3_leaves_parts_without_keys) {
  const OpKernel kernel =
      attention_kernel(decoding(1, 10, 10, 7 * 128), gpu(EngineKernel::flash_3));
  EXPECT_EQ(wgs_of(kernel), 10 * 4);
}

// Blocks of 256, 128 and 64 keys: 64 rows and as many keys and values.
TEST(EngineDecoding, has_blocks_by_the_size_of_a_head) {
  for (const auto& [dim, keys] : {std::pair(64, 256), std::pair(128, 128), std::pair(256, 64)}) {
    AttentionShape shape = decoding(1, 1, 1, 6'400);
    shape.head_dim = dim;
    shape.value_head_dim = dim;
    const OpKernel kernel = attention_kernel(shape, gpu(EngineKernel::flash_2_paged));
    EXPECT_EQ(kernel.wg.lds, bytes((64LL + 2 * keys) * dim * 2)) << dim;
  }
}

// Only the last 512 keys are read.
TEST(EngineDecoding, reads_the_keys_of_its_window) {
  AttentionShape shape = decoding(1, 1, 1, 65'536);
  shape.causal = true;
  shape.window = 512;
  const OpKernel kernel = attention_kernel(shape, gpu(EngineKernel::flash_2_paged));
  EXPECT_EQ(wgs_of(kernel), 4);
}

// 284 groups are not split: in pages by the same kernel, else by one with 128 rows and 64 keys.
TEST(EngineDecoding, takes_the_kernel_of_prompts_for_keys_that_are_whole) {
  const AttentionShape shape = decoding(71, 8, 4, 3'403);
  const OpKernel paged = attention_kernel(shape, gpu(EngineKernel::flash_2_paged));
  const OpKernel whole = attention_kernel(shape, gpu(EngineKernel::flash_2));
  EXPECT_EQ(paged.wg.lds, bytes((64 + 2 * 128) * 128 * 2));
  EXPECT_EQ(whole.wg.lds, bytes((128 + 2 * 64) * 128 * 2));
}

// Two WGs of a CU: 2 x 64 rows x 27 blocks of 128 keys: 442,368 scores, each 512 operations at 1
// TFLOP/s and one more for its exponential: 226.5 us and 0.44 us, as the root of their squares.
TEST(EngineDecoding, computes_all_rows_of_its_tile) {
  const OpKernel kernel =
      attention_kernel(decoding(71, 8, 4, 3'403), gpu(EngineKernel::flash_2_paged));
  const double scores = 2.0 * 64 * 27 * 128;
  const double expected = std::hypot(scores * 512, scores) / 1e12;
  EXPECT_NEAR(to_seconds(kernel.works[0].memory_alone), expected, expected * 1e-6);
}

// Only where several groups of several sequences share keys.
TEST(EngineDecoding, copies_queries_of_heads_that_share_keys) {
  const auto around = [](const AttentionShape& shape) {
    return attention_kernel(shape, gpu(EngineKernel::flash_2_paged)).works.back().fixed;
  };
  EXPECT_GT(around(decoding(4, 16, 2, 100)), microseconds(3 + 11));
  EXPECT_EQ(around(decoding(4, 16, 1, 100)), microseconds(3));
  EXPECT_EQ(around(decoding(4, 16, 16, 100)), microseconds(3));
  EXPECT_EQ(around(decoding(1, 16, 2, 100)), microseconds(3));
}

// FlashAttention-3's WGs load ahead, but not queries that share keys: 2,048 WGs start each.
TEST(EngineDecoding, of_flash_3_starts_once_where_each_head_has_its_keys) {
  const GpuSpec third = gpu(EngineKernel::flash_3);
  const OpKernel own = attention_kernel(decoding(64, 32, 32, 128), third);
  const OpKernel shared = attention_kernel(decoding(256, 32, 8, 128), third);
  EXPECT_EQ(wgs_of(own), 2'048);
  EXPECT_EQ(wgs_of(shared), 2'048);
  EXPECT_EQ(own.works[0].fixed, Duration{});
  EXPECT_EQ(shared.works[0].fixed, microseconds(3));
}

// 30 MiB are kept of an L2 of 60: keys of 16 MiB come from it, of 40 MiB half, of 64 MiB none.
TEST(EngineDecoding, finds_repeated_keys_in_the_l2) {
  const auto traffic = [](std::int64_t keys) {
    AttentionShape shape = decoding(1, 1, 1, keys);
    const GpuSpec second = gpu(EngineKernel::flash_2_paged);
    const auto cold = attention_kernel(shape, second).works[0].traffic;
    shape.repeated = true;
    const auto found = attention_kernel(shape, second).works[0].traffic;
    const auto own = bytes(128 * 2);
    return static_cast<double>((found - own).count()) / static_cast<double>((cold - own).count());
  };
  EXPECT_EQ(traffic(32'768), 0);
  EXPECT_NEAR(traffic(81'920), 0.5, 1e-4);
  EXPECT_EQ(traffic(131'072), 1);
}

// Nobody's library has an engine's kernel where none is known.
TEST(EngineDecoding, falls_back_to_the_library) {
  GpuSpec plain = gpu(EngineKernel::flash_3);
  plain.engine_attention.reset();
  AttentionShape shape = decoding(4, 8, 8, 4'096);
  const OpKernel engine = attention_kernel(shape, plain);
  shape.engine = false;
  EXPECT_EQ(wgs_of(engine), wgs_of(attention_kernel(shape, plain)));
}

}  // namespace
}  // namespace weft::split_keys_test
