// Dispatch on a full GPU: one WG ends on some CU, the next one finds its place. The time reported
// is that of one release and one placement.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "sim/core/rng.h"
#include "sim/gpu_model/residency.h"

namespace {

void wg_ends_and_next_is_placed(benchmark::State& state) {
  const auto cus = static_cast<int>(state.range(0));
  weft::CuSet set(cus, {.waves = 32, .registers = 131'072, .lds = weft::kibibytes(64), .wgs = 16});
  const weft::WgFootprint wg = weft::footprint(256, 64, weft::kibibytes(8), 64);  // 8 a CU
  while (set.place(wg) != weft::CuSet::kNone) {
  }
  weft::Rng rng(1, "bench/ends");
  std::vector<std::uint32_t> ends;
  for (int i = 0; i < 4'096; ++i) {
    ends.push_back(static_cast<std::uint32_t>(rng.between(0, cus - 1)));
  }
  std::size_t next = 0;
  for (auto _ : state) {
    set.release(ends[next++ % ends.size()], wg);
    benchmark::DoNotOptimize(set.place(wg));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(wg_ends_and_next_is_placed)->Arg(104)->Arg(304);

// As persistent kernels do: the CU is given, nothing is searched.
void wg_ends_and_next_takes_its_cu(benchmark::State& state) {
  weft::CuSet set(104, {.waves = 32, .registers = 131'072, .lds = weft::kibibytes(64), .wgs = 16});
  const weft::WgFootprint wg = weft::footprint(256, 64, weft::kibibytes(8), 64);
  while (set.place(wg) != weft::CuSet::kNone) {
  }
  std::uint32_t cu = 0;
  for (auto _ : state) {
    set.release(cu, wg);
    benchmark::DoNotOptimize(set.place_on(cu, wg));
    cu = cu + 1 == 104 ? 0 : cu + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(wg_ends_and_next_takes_its_cu);

}  // namespace
