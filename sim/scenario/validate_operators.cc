// GEMV and GEMM: what must divide among GPUs, WGs, slices and chunks, and what must fit the widths
// that the simulator counts in.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

bool has_good_gemv(const Check& check) {
  return check.good({"workload.kind", "workload.gemv"}) && has_gemv(check.scenario.workload.kind);
}

// Any GEMM, also one whose rows belong to no peer.
bool has_good_gemm(const Check& check) {
  return check.good({"workload.kind", "workload.gemm"}) && has_gemm(check.scenario.workload.kind);
}

bool has_peer_gemm(const Check& check) {
  return has_good_gemm(check) && is_pair(check.scenario.workload.kind);
}

bool knows_gpus(const Check& check) {
  return check.good({"cluster.nodes", "cluster.gpus_per_node"});
}

std::string nearest_multiples(std::int64_t value, std::int64_t step) {
  return "; nearest: " + multiples_around(value, step);
}

// The WGs of one GPU that belong to one peer: `units` of `unit`, which chunks do not cut.
struct Wgs {
  std::int64_t units;
  std::int64_t unit;
  std::int64_t parts;         // WGs that share one result
  std::int64_t result_bytes;  // of `parts` WGs
};

// Input comes in whole units: one where a slice is smaller.
void slices_of_input(const Check& check, const Wgs& wgs, const std::string& units) {
  const int slice = check.scenario.fused.slice_wgs;
  if (slice <= wgs.unit || (slice % wgs.unit == 0 && wgs.units % (slice / wgs.unit) == 0)) return;
  check.fail("fused.slice_wgs",
             "slices of " + text(slice) + " WGs: input is sent in whole " + units + " of " +
                 text(wgs.unit) + " WGs, and each peer has " + text(wgs.units) + "; nearest: " +
                 divisors_around(wgs.units, std::max<std::int64_t>(1, slice / wgs.unit)) +
                 " times " + text(wgs.unit));
}

void slices_and_chunks(const Check& check, const Wgs& wgs) {
  const int chunks = check.scenario.kernel.chunks;
  if (check.has(Mode::kernel) && check.good({"modes", "kernel.chunks"}) && chunks > wgs.units) {
    check.fail("kernel.chunks", text(chunks) + " chunks of " + text(wgs.units) +
                                    (wgs.unit > 1 ? " rows of tiles" : " WGs") +
                                    " for each peer; at most " + text(wgs.units));
  }
  if (!check.has(Mode::fused) || !check.good({"modes", "fused.slice_wgs"})) return;
  const int slice = check.scenario.fused.slice_wgs;
  if (check.scenario.workload.kind == WorkloadKind::all_gather_gemm) {
    return slices_of_input(check, wgs, "rows of tiles");
  }
  // Of results: WG by WG, or all parts of a tile together.
  const std::int64_t all = wgs.units * wgs.unit / wgs.parts;
  if (all % slice != 0) {
    return check.fail(
        "fused.slice_wgs",
        "slices of " + text(slice) + " do not divide the " + text(all) +
            " results that each GPU has for one peer; nearest: " + divisors_around(all, slice));
  }
  if (wgs.result_bytes > kMostOfMessage / slice) {
    check.fail("fused.slice_wgs", text(slice) + " results of " + text(wgs.result_bytes) +
                                      " B exceed the limit of a message, 4 GiB; at most " +
                                      text(kMostOfMessage / wgs.result_bytes));
  }
}

// In floating point: the products need not fit 63 bits.
bool too_many(double wgs_of_a_gpu, double bytes_of_a_pair, double gpus) {
  return wgs_of_a_gpu * gpus * 4 > static_cast<double>(kMostItems) ||
         bytes_of_a_pair * gpus > static_cast<double>(kMostBytes);
}

void gemv_divides(const Check& check) {
  if (!has_good_gemv(check) || !knows_gpus(check)) return;
  const GemvWork& gemv = check.scenario.workload.gemv;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  const std::int64_t step = gemv.rows_per_wg * gpus;
  if (gemv.m % step != 0) {
    return check.fail("workload.gemv.m", text(gemv.m) + " rows do not divide among " + text(gpus) +
                                             " GPUs in WGs of " + text(gemv.rows_per_wg) + " rows" +
                                             nearest_multiples(gemv.m, step));
  }
  const auto m = static_cast<double>(gemv.m);
  if (too_many(m / gemv.rows_per_wg, m * 4, static_cast<double>(gpus))) {
    return check.fail("workload.gemv.m",
                      "too many WGs or bytes on all GPUs to count; use"
                      " fewer rows or more rows_per_wg");
  }
  slices_and_chunks(check, {.units = gemv.m / step,
                            .unit = 1,
                            .parts = 1,
                            .result_bytes = std::int64_t{gemv.rows_per_wg} * 4});
}

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
  if (!has_peer_gemm(check) || !knows_gpus(check)) return;
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

void backward_gets_whole_tables(const Check& check) {
  if (!check.good({"workload.kind", "workload.batch", "workload.rows_per_wg",
                   "workload.tables_per_gpu", "modes", "fused.slice_wgs"})) {
    return;
  }
  const Workload& workload = check.scenario.workload;
  const bool trains = is_model(workload.kind) && workload.phase == Phase::training;
  const bool backward = workload.kind == WorkloadKind::embedding_backward || trains;
  if (!embeds(workload.kind) || !backward) return;
  if (!knows_gpus(check) || !check.has(Mode::fused)) return;
  const std::int64_t wgs = wgs_per_destination(check.scenario);
  const int tables = workload.embedding.tables_per_gpu;
  if (wgs == 0 || wgs % check.scenario.fused.slice_wgs != 0) return;  // said elsewhere
  slices_of_input(check, {.units = tables, .unit = wgs / tables, .parts = 1, .result_bytes = 0},
                  "tables");
}

// What a kernel reads and writes; its peers' parts and buffers not counted.
void matrices_fit_in_memory(const Check& check) {
  if (!check.good({"cluster.gpu.memory.capacity"})) return;
  const Bytes capacity = check.scenario.cluster.gpu.memory.capacity;
  const auto fits = [&](double all, const char* key, const char* what) {
    if (all <= static_cast<double>(capacity.count())) return;
    check.fail(key, std::string(what) + " take " + text(std::llround(all / 1e9)) +
                        " GB of a GPU, whose memory holds " + to_text(capacity) +
                        "; use smaller matrices or more GPUs");
  };
  if (has_peer_gemm(check)) {
    const GemmWork& gemm = check.scenario.workload.gemm;
    const auto m = static_cast<double>(gemm.m);
    const auto n = static_cast<double>(gemm.n);
    const auto k = static_cast<double>(gemm.k);
    const auto size = static_cast<double>(size_of(gemm.dtype).count());
    fits((m * k + k * n + m * n) * size, "workload.gemm.m", "A, B and C");
  }
  if (has_good_gemv(check)) {
    const GemvWork& gemv = check.scenario.workload.gemv;
    const auto m = static_cast<double>(gemv.m);
    const auto size = static_cast<double>(size_of(gemv.dtype).count());
    fits(m * static_cast<double>(gemv.k) * size + m * 4, "workload.gemv.m", "W and y");
  }
}

void weights_fit_in_l2(const Check& check) {
  if (!has_good_gemv(check) || !check.good({"cluster.gpu.l2.capacity"})) return;
  const GemvWork& gemv = check.scenario.workload.gemv;
  if (!gemv.weights_in_l2) return;
  const Bytes capacity = check.scenario.cluster.gpu.l2.capacity;
  const double all = static_cast<double>(gemv.m) * static_cast<double>(gemv.k) *
                     static_cast<double>(size_of(gemv.dtype).count());
  if (all <= static_cast<double>(capacity.count())) return;
  check.fail("workload.gemv.weights", "W takes " + text(std::llround(all / 1e6)) +
                                          " MB, but the L2 holds " + to_text(capacity) +
                                          "; use in_hbm");
}

void gemm_runs_on_matrix_units(const Check& check) {
  if (!has_good_gemm(check) || check.scenario.workload.gemm.dtype != DataType::fp32) return;
  check.fail("workload.gemm.dtype", "the GPU's file has no matrix rate for fp32; use bf16 or fp16");
}

// So that a WG's time fits the clocks: an hour at most, on one CU.
void an_operators_wg_ends(const Check& check) {
  constexpr double kMost = 3600;  // seconds
  const GpuSpec& gpu = check.scenario.cluster.gpu;
  if (has_good_gemm(check) && check.good({"cluster.gpu.cus", "cluster.gpu.bf16_matrix"})) {
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
  if (!has_good_gemv(check)) return;
  if (!check.good(
          {"cluster.gpu.cus", "cluster.gpu.fp32_vector", "cluster.gpu.memory", "cluster.gpu.l2"})) {
    return;
  }
  const GemvWork& gemv = check.scenario.workload.gemv;
  const double products = static_cast<double>(gemv.rows_per_wg) * static_cast<double>(gemv.k);
  const double rate = static_cast<double>(gpu.fp32_vector.count()) / gpu.cus / 4;
  const Duration wait = gpu.memory.latency + gpu.memory.doubling * 10;  // 1024 loads in flight
  double loads = products * 4 / 16 * static_cast<double>(wait.count()) * 1e-12;
  if (gpu.l2.bandwidth.count() > 0) {
    const double all = products * 4 * gpu.cus * gpu.cu.wgs;
    loads += all / static_cast<double>(gpu.l2.bandwidth.count());
  }
  if (std::max(2 * products / rate, loads) <= kMost) return;
  check.fail("workload.gemv.k",
             "one WG would take more than an hour; use fewer rows_per_wg or a smaller k");
}

}  // namespace

void validate_operators(const Check& check) {
  gemv_divides(check);
  gemm_divides(check);
  backward_gets_whole_tables(check);
  matrices_fit_in_memory(check);
  weights_fit_in_l2(check);
  gemm_runs_on_matrix_units(check);
  an_operators_wg_ends(check);
}

}  // namespace weft::rules
