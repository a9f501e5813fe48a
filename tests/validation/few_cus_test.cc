// Memory-bound GEMMs get up to 10 % faster where CUs are taken from them, is reported (ConCCL,
// ISPASS 2025), for the caches thrash less. Of one whose WGs do not fill the CUs that follows from
// the L1s, as long as the L2s' MSHRs are the limit (docs/cache.md).
#include <gtest/gtest.h>

#include <cstdint>

#include "sim/cache/sample.h"
#include "sim/scenario/load_cache.h"
#include "tests/unit/cache/machines.h"

namespace weft::few_cus_test {
namespace {

constexpr cache::Policy kCacheR{.loads = cache::Loads::cached, .stores = cache::Stores::bypass};
constexpr std::int64_t kColumns = 104;  // of tiles, 64 wide
constexpr std::int64_t kParts = 4;      // of k
constexpr std::int64_t kWgs = kColumns * kParts;
constexpr std::int64_t kRowBytes = 2 * 16'384;

// 64 x 6,656 x 16,384 in two bytes, a tile of 64 x 64 and a quarter of k for each WG: the gate of
// Llama 405B on one of 8 GPUs (tp1 of configs/reproduce/cache.yaml).
cache::Application gemm() {
  const auto operand = [](int array) {
    return cache::Access{.array = array,
                         .per_column = array == 0 ? 0 : 64 * kRowBytes,
                         .per_part = kRowBytes / kParts,
                         .per_step = 128,
                         .rows = 64,
                         .row = bytes(128),
                         .pitch = kRowBytes};
  };
  cache::Kernel kernel{.name = "gemm",
                       .grid_columns = kColumns,
                       .grid_parts = kParts,
                       .steps = kRowBytes / kParts / 128,
                       .compute = nanoseconds(530),  // 64 x 64 x 64 x 2 FLOPs at half a CU
                       .wgs_per_cu = 2,
                       .in_flight = 8,
                       .instruction = kibibytes(4),
                       .accesses = {operand(0), operand(1)}};
  return {.name = "gemm",
          .arrays = {{"A", bytes(64 * kRowBytes)}, {"B", bytes(64 * kColumns * kRowBytes)}},
          .kernels = {kernel}};
}

TEST(FewCus, a_memory_bound_gemm_gets_faster_for_its_wgs_share_l1s) {
  auto machine = *load_cache_machine(WEFT_SOURCE_DIR "/configs/cache/machines/mi300x.yaml").value;
  const auto on = [&machine](int cus) {
    machine.cus = cus;
    return cache::sum(cache::sample(machine, gemm(), {.policy = kCacheR}));
  };
  // 416 WGs: (WGs - CUs) CUs have two, of the same part of k, for the CUs are a multiple of the
  // parts. The second one finds A, half of what it loads, in the L1: (WGs - CUs) / (2 WGs) of all.
  const cache::Sample all = on(304);
  const cache::Sample few = on(240);
  EXPECT_NEAR(cache::hit_rate(all.l1), (kWgs - 304) / (2.0 * kWgs), 0.005);
  EXPECT_NEAR(cache::hit_rate(few.l1), (kWgs - 240) / (2.0 * kWgs), 0.005);
  EXPECT_EQ(few.dram.read, all.dram.read);
  EXPECT_LT(to_microseconds(few.time), to_microseconds(all.time) * 0.97);
  EXPECT_LE(on(296).time, all.time);
}

}  // namespace
}  // namespace weft::few_cus_test
