#include "sim/traces/recorded_device.h"

#include <gtest/gtest.h>

namespace weft::recorded_device_test {
namespace {

GpuSpec gpu(const std::string& name, int cus) {
  GpuSpec spec;
  spec.name = name;
  spec.cus = cus;
  return spec;
}

TEST(RecordedDevice, is_told_by_the_model_in_its_name) {
  EXPECT_TRUE(may_be({.name = "NVIDIA A100-SXM4-80GB"}, gpu("A100", 108)));
  EXPECT_FALSE(may_be({.name = "Tesla V100-SXM2-32GB"}, gpu("A100", 108)));
  EXPECT_FALSE(may_be({.name = "NVIDIA H100 80GB HBM3"}, gpu("H200", 132)));
  EXPECT_TRUE(may_be({.name = "NVIDIA GB200"}, gpu("B200", 148)));
  EXPECT_TRUE(may_be({.name = "AMD Instinct MI300X"}, gpu("MI300X", 304)));
  EXPECT_FALSE(may_be({.name = "AMD Instinct MI355X"}, gpu("MI300X", 304)));
}

TEST(RecordedDevice, is_told_by_its_sms_too) {
  EXPECT_TRUE(may_be({.name = "NVIDIA H100 80GB HBM3", .cus = 132}, gpu("H100", 132)));
  EXPECT_FALSE(may_be({.name = "NVIDIA H100 PCIe", .cus = 114}, gpu("H100", 132)));
}

TEST(RecordedDevice, may_be_any_where_nothing_is_said) {
  EXPECT_TRUE(may_be({}, gpu("A100", 108)));
  EXPECT_TRUE(may_be({.name = "a card"}, gpu("A100", 108)));
  EXPECT_TRUE(may_be({.name = "NVIDIA A100"}, gpu("ideal", 100)));
  EXPECT_EQ(text_of(RecordedDevice{.name = "a card", .cus = 3}), "'a card', 3 SMs");
}

}  // namespace
}  // namespace weft::recorded_device_test
