// GEMM: its keys, and what must divide among GPUs, tiles, slices and chunks, fit memories and end.
#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/scenario/names.h"
#include "sim/scenario/operator_kind.h"
#include "sim/spec/fields.h"

namespace weft::rules {
namespace {

// A GEMM whose rows belong to peers; that of c3 does not.
bool has_peers(const Check& check) { return is_pair(check.scenario.workload.kind); }

bool gemm_divides_into_tiles(const Check& check, std::int64_t gpus) {
  const GemmWork& gemm = check.scenario.workload.gemm;
  const std::int64_t step = gemm.tile_m * gpus;
  const bool rows = gemm.m % step == 0;
  if (!rows) {
    check.fail("workload.gemm.m", text(gemm.m) + " rows do not divide among " + text(gpus) +
                                      " GPUs in tiles of " + text(gemm.tile_m) +
                                      nearest_multiples(gemm.m, step));
  }
  const bool columns = gemm.n % gemm.tile_n == 0;
  if (!columns) {
    check.fail("workload.gemm.n", text(gemm.n) + " columns do not divide into tiles of " +
                                      text(gemm.tile_n) + nearest_multiples(gemm.n, gemm.tile_n));
  }
  if (gemm.k % gemm.split_k == 0) return rows && columns;
  check.fail("workload.gemm.split_k", text(gemm.split_k) +
                                          " parts do not divide k = " + text(gemm.k) +
                                          "; nearest: " + divisors_around(gemm.k, gemm.split_k));
  return false;
}

void gemm_divides(const Check& check) {
  if (!has_peers(check) || !knows_gpus(check)) return;
  const GemmWork& gemm = check.scenario.workload.gemm;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  if (!gemm_divides_into_tiles(check, gpus)) return;
  const std::int64_t rows = gemm.m / gemm.tile_m;
  const std::int64_t columns = gemm.n / gemm.tile_n;
  const double wgs =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(gemm.split_k);
  const double widest = static_cast<double>(gemm.m) * static_cast<double>(std::max(gemm.n, gemm.k));
  if (too_many(wgs, widest * 4, static_cast<double>(gpus))) {
    return check.fail("workload.gemm.m",
                      "too many WGs or bytes on all GPUs to count; use"
                      " larger tiles or smaller matrices");
  }
  slices_and_chunks(check, {.units = gemm.m / gemm.tile_m / gpus,
                            .unit = gemm.n / gemm.tile_n * gemm.split_k,
                            .parts = gemm.split_k,
                            .result_bytes = std::int64_t{gemm.tile_m} * gemm.tile_n *
                                            size_of(gemm.dtype).count()});
}

void gemm_fits_in_memory(const Check& check) {
  if (!has_peers(check)) return;
  const GemmWork& gemm = check.scenario.workload.gemm;
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  const auto size = static_cast<double>(size_of(gemm.dtype).count());
  matrices_fit_in_memory(check, (m * k + k * n + m * n) * size, "workload.gemm.m", "A, B and C");
}

void gemm_runs_on_matrix_units(const Check& check) {
  if (check.scenario.workload.gemm.dtype != DataType::fp32) return;
  check.fail("workload.gemm.dtype", "the GPU's file has no matrix rate for fp32; use bf16 or fp16");
}

// So that a WG's time fits the clocks: an hour at most, on one CU.
void a_tile_ends(const Check& check) {
  constexpr double kMost = 3600;  // seconds
  if (!check.good({"cluster.gpu.cus", "cluster.gpu.bf16_matrix"})) return;
  const GpuSpec& gpu = check.scenario.cluster.gpu;
  const GemmWork& gemm = check.scenario.workload.gemm;
  const double work = 2.0 * gemm.tile_m * gemm.tile_n * static_cast<double>(gemm.k);
  const double rate =
      static_cast<double>(gpu.bf16_matrix.count()) * gemm.efficiency * gemm.alone / gpu.cus / 4;
  if (work / rate > kMost) {
    check.fail("workload.gemm.k",
               "one tile would take more than an hour on its CU; use smaller"
               " tiles, a smaller k or more split_k");
  }
}

void validate_gemm(const Check& check) {
  if (!check.good_within({"workload.gemm"})) return;
  gemm_divides(check);
  gemm_fits_in_memory(check);
  gemm_runs_on_matrix_units(check);
  a_tile_ends(check);
}

}  // namespace
}  // namespace weft::rules

namespace weft {
namespace {

// What a library's kernel decides by itself.
void keys_of_described_gemm(Fields map, GemmWork& gemm) {
  constexpr Range<int> kTile{1, 4'096};
  map.add("tile_m", gemm.tile_m, {.help = "rows of C per WG", .range = kTile, .fallback = 128});
  map.add("tile_n", gemm.tile_n, {.help = "columns of C per WG", .range = kTile, .fallback = 128});
  map.add("split_k", gemm.split_k,
          {.help = "WGs that share a tile, each with a part of k",
           .range = {{1, 1'024}},
           .fallback = 1});
  map.choice(
      "order", gemm.order, names::kTileOrders,
      {.help = "order of tiles within the rows of each peer, which decides which run together",
       .fallback = TileOrder::swizzled});
  map.where("order", {"swizzled"})
      .add("swizzle", gemm.swizzle,
           {.help = "rows of tiles per group", .range = {{1, 1'000'000}}, .fallback = 8});
  map.fraction("efficiency", gemm.efficiency,
               {.help = "fraction of the matrix peak that a CU full of WGs reaches",
                .range = {{0.001, 1}},
                .fallback = 0.7});
  map.fraction("alone", gemm.alone,
               {.help = "fraction of `efficiency` that a lone WG reaches",
                .range = {{0.01, 1}},
                .fallback = 1});
  map.add(
      "fixed", gemm.library.fixed,
      {.help = "time of a tile outside its loop over k: filling its pipeline, storing its result",
       .range = {{Duration{}, microseconds(1000)}},
       .fallback = Duration{},
       .quiet = true});
  map.choice("schedule", gemm.schedule, names::kGemmSchedules,
             {.help = "how tiles are assigned to WGs", .fallback = GemmSchedule::tiles});
  wg_fields(map, gemm.wg, GemmWork{}.wg);
}

void keys_of_gemm(Fields& map, GemmWork& gemm) {
  map.add("m", gemm.m, {.help = "rows of C, of all peers together"});
  map.add("n", gemm.n, {.help = "columns of C"});
  map.add("k", gemm.k, {.help = "length of the sums on each GPU"});
  map.choice("dtype", gemm.dtype, names::kDataTypes,
             {.help = "type of an element", .fallback = DataType::bf16});
  map.choice("kernel", gemm.by_library, names::kGemmKernels,
             {.help = "whose kernel", .fallback = false});
  keys_of_described_gemm(map.where("kernel", {"described"}), gemm);
  jitter_field(map, gemm.jitter);
}

void gemm_keys(Fields& workload_map, Workload& workload) {
  workload_map.where("kind", words_of(operators::gemm), "kind: gemm_..., .._gemm, c3")
      .map("gemm", "C = A B on every GPU",
           [&](Fields& inner) { keys_of_gemm(inner, workload.gemm); });
}

WholeUnits rows_of_tiles(const rules::Check& check) {
  if (!is_pair(check.scenario.workload.kind) ||
      !check.good({"workload.gemm.m", "workload.gemm.n", "workload.gemm.tile_m"})) {
    return {};
  }
  const GemmWork& gemm = check.scenario.workload.gemm;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  return {gemm.m / (gemm.tile_m * gpus), "row of tiles", "rows of tiles"};
}

WgShape& wg_of_gemm(Workload& workload) { return workload.gemm.wg; }

}  // namespace

constinit const OperatorKind operators::gemm = {.fields = gemm_keys,
                                                .rules = rules::validate_gemm,
                                                .wg = wg_of_gemm,
                                                .path_of_wg = "workload.gemm.wg",
                                                .units = rows_of_tiles};

}  // namespace weft
