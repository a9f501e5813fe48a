// Shapes of operators, as PyTorch's profiler writes them, to operations and bytes.
#include "sim/traces/pytorch/operator_work.h"

#include <gtest/gtest.h>

#include "sim/traces/pytorch/kernel_tile.h"

namespace weft::operator_work_test {
namespace {

constexpr const char* kBf16 = "c10::BFloat16";

std::optional<RecordedWork> work(const char* name, const Json& dims, const Json& types,
                                 const Json& values = Json::array()) {
  return work_of_operator(
      name, inputs_of({{"Input Dims", dims}, {"Input type", types}, {"Concrete Inputs", values}}));
}

TEST(OperatorWork, products) {
  // 2 x 8 x 32 x 16 operations; (8 x 16 + 16 x 32) elements of 2 B read, 8 x 32 written.
  const auto mm = work("aten::mm", {{8, 16}, {16, 32}}, {kBf16, kBf16});
  ASSERT_TRUE(mm && mm->gemm);
  EXPECT_EQ(mm->kind, RecordedKind::gemm);
  EXPECT_EQ(mm->gemm->m, 8);
  EXPECT_EQ(mm->gemm->n, 32);
  EXPECT_EQ(mm->gemm->k, 16);
  EXPECT_EQ(mm->flops, flops(8192));
  EXPECT_EQ(mm->read, bytes(2 * (128 + 512)));
  EXPECT_EQ(mm->written, bytes(512));
  EXPECT_TRUE(mm->matrix);
  // What is added is read as well; scalars have no sizes.
  const auto addmm = work("aten::addmm", {{32}, {8, 16}, {16, 32}, Json::array(), Json::array()},
                          {"float", "float", "float", "Scalar", "Scalar"});
  ASSERT_TRUE(addmm);
  EXPECT_EQ(addmm->read, bytes(4 * (32 + 128 + 512)));
  const auto bmm = work("aten::bmm", {{3, 8, 16}, {3, 16, 32}}, {kBf16, kBf16});
  ASSERT_TRUE(bmm);
  EXPECT_EQ(bmm->gemm->batch, 3);
  EXPECT_EQ(bmm->flops, flops(3 * 8192));
  // Operands of 1 B; the result has 2.
  const auto fp8 =
      work("aten::_scaled_mm", {{8, 16}, {16, 32}}, {"c10::Float8_e4m3fn", "c10::Float8_e4m3fn"});
  ASSERT_TRUE(fp8);
  EXPECT_EQ(fp8->read, bytes(128 + 512));
  EXPECT_EQ(fp8->written, bytes(512));
}

// 40 tokens of 4 experts, 16 wide, to 32: forward, the gradient of tokens' inputs the other way
// round, that of weights. How many tokens each expert has does not matter.
TEST(OperatorWork, products_of_several_sizes) {
  const auto forward =
      work("aten::_grouped_mm", {{40, 16}, {4, 16, 32}, {4}}, {kBf16, kBf16, "int"});
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->kind, RecordedKind::gemm);
  EXPECT_FALSE(forward->gemm);
  EXPECT_TRUE(forward->matrix);
  EXPECT_EQ(forward->flops, flops(2 * 40 * 16 * 32));
  EXPECT_EQ(forward->read, bytes(2 * (40 * 16 + 4 * 16 * 32)));
  EXPECT_EQ(forward->written, bytes(2 * 40 * 32));
  const auto weights = work("aten::_grouped_mm", {{16, 40}, {40, 32}, {4}}, {kBf16, kBf16, "int"});
  ASSERT_TRUE(weights);
  EXPECT_EQ(weights->flops, forward->flops);
  EXPECT_EQ(weights->written, bytes(2 * 4 * 16 * 32));
  const auto columns =
      work("aten::_grouped_mm", {{4, 32, 16}, {16, 40}, {4}}, {kBf16, kBf16, "int"});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->flops, forward->flops);
  EXPECT_EQ(columns->written, bytes(2 * 32 * 40));
  const auto batched = work("aten::_grouped_mm", {{4, 10, 16}, {4, 16, 32}}, {kBf16, kBf16});
  ASSERT_TRUE(batched && batched->gemm);
  EXPECT_EQ(batched->gemm->batch, 4);
  EXPECT_FALSE(work("aten::_grouped_mm", {{40, 16}, {4, 17, 32}, {4}}, {kBf16, kBf16, "int"}));
  EXPECT_FALSE(work("aten::_grouped_mm", {{16, 40}, {40, 32}}, {kBf16, kBf16}));
}

TEST(OperatorWork, shapes_that_do_not_fit_say_nothing) {
  EXPECT_FALSE(work("aten::mm", {{8, 16}, {17, 32}}, {kBf16, kBf16}));
  EXPECT_FALSE(work("aten::mm", {{8, 16}}, {kBf16}));
  EXPECT_FALSE(work("aten::mm", {{8, 16}, {16, 32}}, {"something", kBf16}));
  EXPECT_FALSE(work("aten::mm", {{8, -16}, {-16, 32}}, {kBf16, kBf16}));
  EXPECT_FALSE(work("aten::unknown", {{8, 16}, {16, 32}}, {kBf16, kBf16}));
  EXPECT_FALSE(work_of_operator("aten::mm", inputs_of(Json::object())));
  constexpr std::int64_t kHuge = std::int64_t{1} << 40U;
  EXPECT_FALSE(work("aten::mm", {{kHuge, kHuge}, {kHuge, kHuge}}, {kBf16, kBf16}));
}

TEST(OperatorWork, attention) {
  // One sequence of 4 tokens, 2 heads of 8, one head of keys; 4 x 4 pairs, causal 10 of them.
  const Json shape = {{1, 4, 2, 8}, {1, 4, 1, 8}, {1, 4, 1, 8}};
  const Json types = {kBf16, kBf16, kBf16};
  Json values = {"", "", "", "", "", "", "", "", "False"};
  const auto full = work("aten::_flash_attention_forward", shape, types, values);
  ASSERT_TRUE(full);
  EXPECT_EQ(full->flops, flops(2 * 16 * 2 * (8 + 8)));
  EXPECT_EQ(full->read, bytes(2 * (64 + 32 + 32)));
  EXPECT_EQ(full->written, bytes(2 * 64));
  values[8] = "True";
  EXPECT_EQ(work("aten::_flash_attention_forward", shape, types, values)->flops,
            flops(2 * 10 * 2 * (8 + 8)));
  // Behind the gradient; five products; reads the result and its gradient, writes three gradients.
  const auto backward =
      work("aten::_flash_attention_backward",
           {{1, 4, 2, 8}, {1, 4, 2, 8}, {1, 4, 1, 8}, {1, 4, 1, 8}}, {kBf16, kBf16, kBf16, kBf16});
  ASSERT_TRUE(backward);
  EXPECT_EQ(backward->flops, flops(2 * 16 * 2 * (5 * 8)));
  EXPECT_EQ(backward->read, bytes(2 * (64 + 32 + 32 + 64 + 64)));
  EXPECT_EQ(backward->written, bytes(2 * (64 + 32 + 32)));
  // Heads before tokens: 2 heads of 4 tokens.
  EXPECT_EQ(work("aten::_scaled_dot_product_cudnn_attention",
                 {{1, 2, 4, 8}, {1, 1, 4, 8}, {1, 1, 4, 8}}, types)
                ->flops,
            flops(2 * 16 * 2 * (8 + 8)));
  // Sequences of different lengths: which, is not in the profile.
  EXPECT_FALSE(work("aten::_flash_attention_forward", {{4, 2, 8}, {4, 1, 8}, {4, 1, 8}}, types));
}

TEST(OperatorWork, streams) {
  const auto norm =
      work("aten::native_layer_norm", {{8, 16}, Json::array(), {16}}, {kBf16, "", kBf16});
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm->kind, RecordedKind::norm);
  EXPECT_EQ(norm->read, bytes(256));
  EXPECT_EQ(norm->written, bytes(256));
  const auto sum = work("aten::add_", {{8, 16}, {16}, Json::array()}, {kBf16, kBf16, "Scalar"});
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->kind, RecordedKind::elementwise);
  EXPECT_EQ(sum->read, bytes(256 + 32));
  EXPECT_EQ(sum->written, bytes(256));
  EXPECT_EQ(sum->flops, flops(128));
  const auto cast = work("aten::copy_", {{8, 16}, {8, 16}}, {kBf16, "float"});
  ASSERT_TRUE(cast);
  EXPECT_EQ(cast->read, bytes(512));
  EXPECT_EQ(cast->written, bytes(256));
  // 10 rows of 16 looked up for 4 bags; with the end of the last one listed, 3.
  const Json bag = {{1000, 16}, {10}, {4}};
  const Json types = {"float", "long int", "long int"};
  const auto pooled = work("aten::_embedding_bag", bag, types);
  ASSERT_TRUE(pooled);
  EXPECT_EQ(pooled->rows, 4);
  EXPECT_EQ(pooled->read, bytes(10 * 64 + 10 * 8));
  EXPECT_EQ(pooled->written, bytes(4 * 64));
  EXPECT_EQ(pooled->flops, flops(160));
  EXPECT_EQ(work("aten::_embedding_bag", bag, types, {"", "", "", "", "", "", "", "True"})->rows,
            3);
}

RecordedGemm tiled(const char* kernel, std::int64_t wgs) {
  RecordedGemm gemm{.m = 1024, .n = 2048, .k = 512};
  add_tile(kernel, wgs, gemm);
  return gemm;
}

// The first number lies along the columns.
TEST(OperatorWork, kernels_have_their_tile_in_their_name) {
  for (const char* kernel :
       {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
        ("void "
         "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_64x3_nn_align8>"),
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64_warpgroupsize2x1x1_cublas",
        "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_256x128x64_2x1x1_0_tnn",
        "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x128x64_MI16x16x1_SN"}) {
    const RecordedGemm gemm = tiled(kernel, 132);
    EXPECT_EQ(gemm.tile_n, 256) << kernel;
    EXPECT_EQ(gemm.tile_m, 128) << kernel;
    EXPECT_EQ(gemm.split_k, 1) << kernel;
  }
  for (const char* kernel : {"void gemmk1_kernel<int, float, 256, 5>", "gemv2T_kernel_val", "",
                             "ampere_sgemm_1x2_nn", "a_7x7_b", "x_256x", "x_99999999999x8"}) {
    EXPECT_EQ(tiled(kernel, 132).tile_n, 0) << kernel;
  }
}

// 8 x 8 tiles: a WG each, or four for each.
TEST(OperatorWork, a_grid_of_several_times_the_tiles_splits_k) {
  EXPECT_EQ(tiled("nvjet_sm90_tst_256x128_64x4", 64).split_k, 1);
  EXPECT_EQ(tiled("nvjet_sm90_tst_256x128_64x4", 256).split_k, 4);
  EXPECT_EQ(tiled("nvjet_sm90_tst_256x128_64x4", 100).split_k, 1);
}

}  // namespace
}  // namespace weft::operator_work_test
