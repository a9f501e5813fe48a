// Which of its kernels a library takes, on a GPU of 100 CUs of which each holds a WG of the largest
// tile: 232 registers of 256 threads.
#include "sim/gpu_model/library_gemm.h"

#include <gtest/gtest.h>

#include "sim/gpu_model/cu_law.h"

namespace weft::library_gemm_test {
namespace {

GpuSpec gpu() {
  GpuSpec spec;
  spec.cus = 100;
  spec.wave_size = 32;
  spec.cu = {.waves = 64, .registers = 65'536, .lds = kibibytes(228), .wgs = 32};
  spec.bf16_matrix = gigaflops(1'000'000);
  spec.l2 = {.capacity = mebibytes(50),
             .dies = 1,
             .copies = 1,
             .latency = nanoseconds(200),
             .bandwidth = {}};
  spec.memory.bandwidth = gigabytes_per_second(4000);
  spec.memory.bend = 2.5;
  return spec;
}

TEST(LibraryGemm, takes_the_largest_tile_where_there_are_many) {
  const TiledGemm chosen = library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192}, gpu(), 1);
  EXPECT_EQ(chosen.tile_m, 256);
  EXPECT_EQ(chosen.tile_n, 128);
  EXPECT_EQ(chosen.split_k, 1);
  EXPECT_DOUBLE_EQ(chosen.efficiency, 0.7);
}

// A stage is (256 + 128) x 64 x 2 B = 48 KiB: four of them in 228 KiB; 192 KiB are 48 loads of 16 B
// of each of 256 threads.
TEST(LibraryGemm, has_as_many_stages_as_the_local_memory_holds) {
  const TiledGemm chosen = library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192}, gpu(), 1);
  EXPECT_EQ(chosen.wg.lds, kibibytes(192));
  EXPECT_EQ(chosen.wg.loads_in_flight, 48);
  EXPECT_EQ(resident_on_cu(gpu(), chosen.wg), 1);
}

TEST(LibraryGemm, splits_k_where_tiles_are_few) {
  const TiledGemm chosen = library_gemm({.m = 256, .n = 128, .k = 65'536}, gpu(), 1);
  EXPECT_GT(chosen.split_k, 1);
}

TEST(LibraryGemm, of_peers_divides_its_rows_of_tiles_among_them) {
  const TiledGemm chosen = library_gemm({.m = 512, .n = 4096, .k = 65'536}, gpu(), 8);
  EXPECT_EQ(512 % (chosen.tile_m * 8), 0);
  EXPECT_EQ(chosen.split_k, 1);
  EXPECT_EQ(library_gemm({.m = 100, .n = 4096, .k = 4096}, gpu(), 8).m, 0);
}

}  // namespace
}  // namespace weft::library_gemm_test
