// Names of kernels as reports show them.
#include "sim/traces/names.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(KernelNames, are_without_their_signature) {
  EXPECT_EQ(short_kernel_name("void at::native::reduce_kernel<512, 1>(int)"),
            "at::native::reduce_kernel");
  EXPECT_EQ(short_kernel_name("(anonymous namespace)::softmax<float>(x)"),
            "(anonymous namespace)::softmax");
  EXPECT_EQ(short_kernel_name("at::cuda::<unnamed>::spin_kernel(long)"),
            "at::cuda::<unnamed>::spin_kernel");
  EXPECT_EQ(short_kernel_name("void <unnamed>::softmax<float>(x)"), "<unnamed>::softmax");
}

}  // namespace
}  // namespace weft
