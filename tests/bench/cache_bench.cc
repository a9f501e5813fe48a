// The cache model: requests of a line each, a second, from the addresses made to the DRAM's rows,
// on a machine of the size of an H200 and for the 17 applications on theirs. docs/cache.md says
// what it must reach.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "sim/cache/sample.h"
#include "sim/core/assert.h"
#include "sim/gpu_model/gemm_sample.h"
#include "sim/scenario/load_cache.h"

namespace {

using namespace weft;         // NOLINT(google-build-using-namespace)
using namespace weft::cache;  // NOLINT(google-build-using-namespace)

Hierarchy machine() {
  return {.name = "bench",
          .cus = 132,
          .line = bytes(128),
          .sector = bytes(64),
          .interleave = bytes(512),
          .l1 = {.capacity = kibibytes(256),
                 .slices = 1,
                 .ways = 16,
                 .mshrs = 512,
                 .bandwidth = gigabytes_per_second(250),
                 .latency = nanoseconds(20)},
          .l2 = {.capacity = mebibytes(30),
                 .slices = 32,
                 .ways = 15,
                 .mshrs = 1024,
                 .bandwidth = gigabytes_per_second(4'450),
                 .latency = nanoseconds(185)},
          .dies = 2,
          .die_to_die = nanoseconds(100),
          .dram = {.channels = 192,
                   .banks = 16,
                   .row = kibibytes(1),
                   .bandwidth = gigabytes_per_second(4'700),
                   .latency = nanoseconds(488),
                   .activate = nanoseconds(14),
                   .precharge = nanoseconds(14),
                   .activate_interval = nanoseconds(4),
                   .close_after = microseconds(1),
                   .queue = 32}};
}

Kernel persistent(std::int64_t steps) {
  return {.name = "bench",
          .grid_rows = 792,
          .steps = steps,
          .wgs_per_cu = 6,
          .in_flight = 4,
          .instruction = kibibytes(4)};
}

void run(benchmark::State& state, const Application& application, const Policy& policy) {
  std::int64_t requests = 0;
  Sample all;
  for (auto _ : state) {
    all = sum(sample(machine(), application, {.policy = policy}));
    requests += all.l1.loads + all.l1.stores;
  }
  state.SetItemsProcessed(requests);
  const auto part = [](const LevelCounts& of) {
    const auto loads = static_cast<double>(of.loads);
    return loads > 0 ? static_cast<double>(of.hits + of.merged) / loads : 0;
  };
  state.counters["l1_hits"] = part(all.l1);
  state.counters["l2_hits"] = part(all.l2);
}

const Policy kReads = kPolicies[1].policy;
const Policy kAll = kPolicies[5].policy;

// Rows of 1 KiB from a table of so many MiB: hits in the L2, or misses nearly everywhere.
void gather(benchmark::State& state, const Policy& policy) {
  Kernel kernel = persistent(1);
  kernel.accesses = {{.rows = 331,
                      .row = bytes(1024),
                      .pitch = 1024,
                      .gather = Gather{.table_rows = state.range(0) << 10U}}};
  run(state,
      {.name = "gather", .arrays = {{"table", mebibytes(state.range(0))}}, .kernels = {kernel}},
      policy);
}
BENCHMARK_CAPTURE(gather, cache_r, kReads)->Arg(16)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gather, all, kAll)->Arg(1024)->Unit(benchmark::kMillisecond);

// The same from a table that fits an L1.
void gather_l1(benchmark::State& state) {
  Kernel kernel = persistent(1);
  kernel.accesses = {
      {.rows = 331, .row = bytes(1024), .pitch = 1024, .gather = Gather{.table_rows = 64}}};
  run(state, {.name = "gather", .arrays = {{"table", kibibytes(64)}}, .kernels = {kernel}}, kReads);
}
BENCHMARK(gather_l1)->Unit(benchmark::kMillisecond);

// Reads one array and writes another.
void copy(benchmark::State& state, const Policy& policy) {
  Kernel kernel = persistent(40);
  const std::int64_t step = 4096;
  const Access load{.per_row = 40 * step, .per_step = step, .row = bytes(step)};
  Access store = load;
  store.op = Op::store;
  store.array = 1;
  kernel.accesses = {load, store};
  run(state,
      {.name = "copy",
       .arrays = {{"a", mebibytes(128)}, {"b", mebibytes(128)}},
       .kernels = {kernel}},
      policy);
}
BENCHMARK_CAPTURE(copy, uncached, kPolicies[0].policy)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(copy, cache_rw, kPolicies[2].policy)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(copy, all, kAll)->Unit(benchmark::kMillisecond);

// Tiles of 128 x 128 of a GEMM of 2,048 in bf16.
void gemm(benchmark::State& state, const Policy& policy) {
  const std::int64_t pitch = 4096;
  Kernel kernel{.name = "gemm",
                .grid_rows = 16,
                .grid_columns = 16,
                .steps = 32,
                .wgs_per_cu = 2,
                .in_flight = 8,
                .instruction = kibibytes(4)};
  const Access a{
      .per_row = 128 * pitch, .per_step = 128, .rows = 128, .row = bytes(128), .pitch = pitch};
  Access b = a;
  b.array = 1;
  std::swap(b.per_row, b.per_column);
  kernel.accesses = {a, b};
  run(state,
      {.name = "gemm", .arrays = {{"a", mebibytes(8)}, {"b", mebibytes(8)}}, .kernels = {kernel}},
      policy);
}
BENCHMARK_CAPTURE(gemm, cache_r, kReads)->Unit(benchmark::kMillisecond);

// The same GEMM, larger, as the simulator asks for it: lines as long as panels. Counted are the
// lines of 128 B that they stand for.
void gemm_in_panels(benchmark::State& state) {
  GemmTiles tiles;
  tiles.rows = 64;
  tiles.columns = 64;
  tiles.together = 8;
  tiles.row_bytes = 16'384;
  tiles.tile_m = 128;
  tiles.tile_n = 128;
  tiles.element_bytes = 2;
  tiles.cus = 132;
  tiles.arithmetic = microseconds(40);
  tiles.in_flight = 65'536;
  const GemmSample gemm = gemm_sample(tiles, machine());
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        sample(gemm.caches, gemm.application, {.policy = kReads, .wgs = gemm.wgs}));
  }
  const std::int64_t lines_of_a_wg = tiles.row_bytes / 128 * (tiles.tile_m + tiles.tile_n);
  state.SetItemsProcessed(state.iterations() * gemm.wgs * lines_of_a_wg);
}
BENCHMARK(gemm_in_panels)->Unit(benchmark::kMillisecond);

// All 17, each with the same weight a request.
void applications(benchmark::State& state, const Policy& policy) {
  const std::filesystem::path folder = WEFT_SOURCE_DIR "/configs/cache";
  const auto apu = load_cache_machine(folder / "machines/apu_64cu.yaml");
  SIM_ASSERT(apu.value);
  std::vector<Application> all;
  std::set<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder / "applications")) {
    files.insert(file.path());
  }
  for (const std::filesystem::path& file : files) {
    auto loaded = load_cache_application(file);
    SIM_ASSERT(loaded.value);
    all.push_back(*loaded.value);
  }
  std::int64_t requests = 0;
  for (auto _ : state) {
    for (const Application& application : all) {
      const LevelCounts l1 = sum(sample(*apu.value, application, {.policy = policy})).l1;
      requests += l1.loads + l1.stores;
    }
  }
  state.SetItemsProcessed(requests);
}
BENCHMARK_CAPTURE(applications, uncached, kPolicies[0].policy)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(applications, cache_r, kReads)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(applications, cache_rw, kPolicies[2].policy)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(applications, all, kAll)->Unit(benchmark::kMillisecond);

}  // namespace
