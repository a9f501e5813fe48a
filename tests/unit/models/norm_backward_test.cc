// The backward pass of a norm: when both sums are found at once, and what its kernels move.
#include "sim/models/norm_backward.h"

#include <gtest/gtest.h>

namespace weft::norm_backward_test {
namespace {

bool at_once(std::int64_t rows, std::int64_t width) {
  return norm_backward_of(rows, width, 2, DataType::bf16).at_once;
}

TEST(NormBackward, finds_both_sums_at_once_of_many_short_rows) {
  EXPECT_TRUE(at_once(4096, 2048));
  EXPECT_FALSE(at_once(4095, 2047));  // 4,096 rows
  EXPECT_FALSE(at_once(8191, 4096));  // twice as many as columns
  EXPECT_TRUE(at_once(8192, 4096));
  EXPECT_FALSE(at_once(4096, 1279));  // 5 x 1,024^2 elements: 1,280 columns
  EXPECT_TRUE(at_once(4096, 1280));
  EXPECT_TRUE(at_once(65'536, 16'384));
  EXPECT_FALSE(at_once(65'536, 16'385));  // a row no longer stays in a WG
}

// 16,384 rows of 2,048 halves are 67,108,864 B; 1,024 WGs of 16 rows leave 2,048 sums of 4 B each.
TEST(NormBackward, reads_its_tensors_once_and_leaves_sums_of_16_rows) {
  const NormBackward backward = norm_backward_of(16'384, 2048, 2, DataType::bf16);
  EXPECT_EQ(backward.inputs.read, bytes(2 * 67'108'864));
  EXPECT_EQ(backward.inputs.written, bytes(67'108'864 + 1024 * 2048 * 4));
  EXPECT_EQ(backward.weights.read, bytes(1024 * 2048 * 4));
  EXPECT_EQ(backward.weights.written, bytes(2048 * 2));
  EXPECT_EQ(backward.weights.most_wgs, 2048 / 128 * (1024 / 64));
  // 1,023 parts: no WG of the second kernel has only a part of the rows.
  EXPECT_EQ(norm_backward_of(16'368, 2048, 2, DataType::bf16).weights.most_wgs, 2048 / 128);
}

TEST(NormBackward, has_a_kernel_for_each_sum_otherwise) {
  const NormBackward backward = norm_backward_of(4096, 4096, 3, DataType::bf16);
  const Bytes tensor = bytes(4096 * 4096 * 2);
  EXPECT_EQ(backward.inputs.read, tensor * 3);
  EXPECT_EQ(backward.inputs.written, tensor);
  EXPECT_EQ(backward.weights.read, tensor * 2);
  EXPECT_EQ(backward.weights.written, bytes(0));
  EXPECT_EQ(backward.weights.load, bytes(2));  // down columns: a thread loads an element at a time
}

}  // namespace
}  // namespace weft::norm_backward_test
