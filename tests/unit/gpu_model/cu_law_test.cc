// What a WG gets of its CU: 10 CUs of 16 waves of 64 lanes, 65,536 registers and 64 KiB.
#include "sim/gpu_model/cu_law.h"

#include <gtest/gtest.h>

namespace weft::cu_law_test {
namespace {

GpuSpec gpu() {
  GpuSpec spec;
  spec.cus = 10;
  spec.wave_size = 64;
  spec.cu = {.waves = 16, .registers = 65'536, .lds = kibibytes(64), .wgs = 32};
  return spec;
}

TEST(CuLaw, as_many_wgs_stay_on_a_cu_as_its_scarcest_part_holds) {
  WgShape wg;
  wg.threads = 256;
  wg.registers_per_thread = 32;
  EXPECT_EQ(resident_on_cu(gpu(), wg), 4);      // 16 waves in fours; registers for 8
  EXPECT_EQ(resident_on_cu(gpu(), wg, 40), 3);  // 65,536 / (256 x 72) = 3.6
  wg.lds = kibibytes(40);
  EXPECT_EQ(resident_on_cu(gpu(), wg), 1);
  wg.lds = kibibytes(65);
  EXPECT_EQ(resident_on_cu(gpu(), wg), 0);
}

TEST(CuLaw, a_wave_uses_one_of_four_simds) {
  EXPECT_EQ(share_of_cu(gpu(), 64), 250U);
  EXPECT_EQ(share_of_cu(gpu(), 65), 500U);
  EXPECT_EQ(share_of_cu(gpu(), 256), 1000U);
  EXPECT_EQ(share_of_cu(gpu(), 1024), 1000U);
}

TEST(CuLaw, arithmetic_takes_its_share_of_one_cu) {
  // A CU has 100 of 1,000 GFLOP/s: 1,000 operations take 10 ns, on a quarter of it 40 ns.
  EXPECT_EQ(arithmetic_time(flops(1000), gigaflops(1000), gpu(), 1000), nanoseconds(10));
  EXPECT_EQ(arithmetic_time(flops(1000), gigaflops(1000), gpu(), 250), nanoseconds(40));
  EXPECT_EQ(arithmetic_time(flops(1), gigaflops(3), gpu(), 1000), picoseconds(3334));  // 3333.3
}

}  // namespace
}  // namespace weft::cu_law_test
