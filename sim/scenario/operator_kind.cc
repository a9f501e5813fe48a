// What operators share: keys, and rules of slices, chunks and sizes.
#include "sim/scenario/operator_kind.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/gpu_model/gpu_fields.h"
#include "sim/scenario/modes.h"
#include "sim/spec/fields.h"

namespace weft {

std::vector<std::string_view> words_of(const OperatorKind& computes) {
  std::vector<std::string_view> words;
  for (const KindRow& row : kKindRows) {
    if (row.computes == &computes) words.emplace_back(row.name);
  }
  return words;
}

void wg_fields(Fields& map, WgShape& wg, const WgShape& fallback) {
  map.map_of_defaults("wg", "what a WG needs on its CU", [&](Fields& inner) {
    inner.add("threads", wg.threads,
              {.help = "threads of a WG", .range = {{1, 1'024}}, .fallback = fallback.threads});
    inner.add("registers_per_thread", wg.registers_per_thread,
              {.help = "32-bit vector registers of a thread",
               .range = kRegistersPerThread,
               .fallback = fallback.registers_per_thread});
    inner.add("lds", wg.lds, {.help = "local data share of a WG", .fallback = fallback.lds});
    inner.add("loads_in_flight", wg.loads_in_flight,
              {.help = "16-byte loads a thread keeps outstanding",
               .range = {{1, 1'024}},
               .fallback = fallback.loads_in_flight});
  });
}

void jitter_field(Fields& map, double& jitter) {
  map.fraction("jitter", jitter,
               {.help = "each WG's work varies uniformly by +- this fraction",
                .range = {{0, 0.9}},
                .fallback = 0});
}

WgShape wg_of(Workload workload) {
  const OperatorKind* const computes = row_of(workload.kind).computes;
  return computes == nullptr ? workload.embedding.wg : computes->wg(workload);
}

}  // namespace weft

namespace weft::rules {

bool knows_gpus(const Check& check) {
  return check.good({"cluster.nodes", "cluster.gpus_per_node"});
}

std::string nearest_multiples(std::int64_t value, std::int64_t step) {
  return "; nearest: " + multiples_around(value, step);
}

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
  if (!fuses(check.scenario) || !check.good({"modes", "fused.slice_wgs"})) return;
  const int slice = check.scenario.fused.slice_wgs;
  const WorkloadKind kind = check.scenario.workload.kind;
  if (has_gemm(kind) && !results_travel(kind)) {
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

bool too_many(double wgs_of_a_gpu, double bytes_of_a_pair, double gpus) {
  return wgs_of_a_gpu * gpus * 4 > static_cast<double>(kMostItems) ||
         bytes_of_a_pair * gpus > static_cast<double>(kMostBytes);
}

void matrices_fit_in_memory(const Check& check, double all, const char* key, const char* what) {
  if (!check.good({"cluster.gpu.memory.capacity"})) return;
  const Bytes capacity = check.scenario.cluster.gpu.memory.capacity;
  if (all <= static_cast<double>(capacity.count())) return;
  check.fail(key, std::string(what) + " take " + text(std::llround(all / 1e9)) +
                      " GB of a GPU, whose memory holds " + to_text(capacity) +
                      "; use smaller matrices or more GPUs");
}

}  // namespace weft::rules
