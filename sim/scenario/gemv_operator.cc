// GEMV: its keys, and what must divide among GPUs, WGs, slices and chunks, fit memories and end.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/scenario/names.h"
#include "sim/scenario/operator_kind.h"
#include "sim/spec/fields.h"

namespace weft::rules {
namespace {

void gemv_divides(const Check& check) {
  if (!knows_gpus(check)) return;
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

void gemv_fits_in_memory(const Check& check) {
  const GemvWork& gemv = check.scenario.workload.gemv;
  const auto m = static_cast<double>(gemv.m);
  const auto size = static_cast<double>(size_of(gemv.dtype).count());
  matrices_fit_in_memory(check, m * static_cast<double>(gemv.k) * size + m * 4, "workload.gemv.m",
                         "W and y");
}

void weights_fit_in_l2(const Check& check) {
  if (!check.good({"cluster.gpu.l2.capacity"})) return;
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

// So that a WG's time fits the clocks: an hour at most, on one CU.
void a_wg_of_gemv_ends(const Check& check) {
  constexpr double kMost = 3600;  // seconds
  if (!check.good(
          {"cluster.gpu.cus", "cluster.gpu.fp32_vector", "cluster.gpu.memory", "cluster.gpu.l2"})) {
    return;
  }
  const GpuSpec& gpu = check.scenario.cluster.gpu;
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

void validate_gemv(const Check& check) {
  if (!check.good_within({"workload.gemv"})) return;
  gemv_divides(check);
  gemv_fits_in_memory(check);
  weights_fit_in_l2(check);
  a_wg_of_gemv_ends(check);
}

}  // namespace
}  // namespace weft::rules

namespace weft {
namespace {

constexpr WgShape kGemvWg{
    .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 1};

void keys_of_gemv(Fields& map, GemvWork& gemv) {
  map.add("m", gemv.m, {.help = "rows of W: elements of y"});
  map.add("k", gemv.k, {.help = "columns of W on each GPU"});
  map.choice("dtype", gemv.dtype, names::kDataTypes,
             {.help = "type of an element of W; y is fp32", .fallback = DataType::fp16});
  map.add("rows_per_wg", gemv.rows_per_wg,
          {.help = "rows per WG, one wave per row", .range = {{1, 1'000'000}}});
  map.choice("weights", gemv.weights_in_l2, names::kWeights,
             {.help = "where W is when the kernel starts", .fallback = false});
  map.add(
      "load_sums", gemv.load_sums,
      {.help =
           "time of a wave's additions for one load (16 B per lane), for which its next loads wait",
       .fallback = Duration{}});
  wg_fields(map, gemv.wg, kGemvWg);
  jitter_field(map, gemv.jitter);
}

void gemv_keys(Fields& workload_map, Workload& workload) {
  workload_map.where("kind", words_of(operators::gemv))
      .map("gemv", "y = W x on every GPU",
           [&](Fields& inner) { keys_of_gemv(inner, workload.gemv); });
}

WholeUnits wgs_of_a_peer(const rules::Check& check) {
  if (!check.good_within({"workload.gemv"})) return {};
  const GemvWork& gemv = check.scenario.workload.gemv;
  const std::int64_t gpus = check.scenario.cluster.gpus();
  return {gemv.m / (gemv.rows_per_wg * gpus), "WG", "WGs"};
}

WgShape& wg_of_gemv(Workload& workload) { return workload.gemv.wg; }

}  // namespace

constinit const OperatorKind operators::gemv = {.fields = gemv_keys,
                                                .rules = rules::validate_gemv,
                                                .wg = wg_of_gemv,
                                                .path_of_wg = "workload.gemv.wg",
                                                .units = wgs_of_a_peer};

}  // namespace weft
