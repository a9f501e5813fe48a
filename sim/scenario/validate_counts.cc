// What must fit the widths that the simulator counts in: items and messages 32 bits, the size of a
// message 32 bits, bytes and picoseconds 63.
#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/core/round_up.h"
#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"

namespace weft::rules {
namespace {

// For factors of at least 1, whose product need not fit.
bool product_exceeds(std::int64_t a, std::int64_t b, std::int64_t most) {
  return b > 0 && a > most / b;
}

std::int64_t row_bytes(const EmbeddingWork& work) { return work.dim * size_of(work.dtype).count(); }

std::int64_t result_bytes(const EmbeddingWork& work) { return work.rows_per_wg * row_bytes(work); }

bool sizes_are_good(const Check& check) {
  return check.embeds() && check.good({kRowsPerWg, "workload.dim", "workload.dtype"});
}

bool counts_are_good(const Check& check) {
  return sizes_are_good(check) &&
         check.good({"cluster.nodes", "cluster.gpus_per_node", "workload.batch",
                     "workload.tables_per_gpu"}) &&
         wgs_per_destination(check.scenario) > 0;
}

void a_result_fits_a_message(const Check& check) {
  if (!sizes_are_good(check)) return;
  const EmbeddingWork& work = check.scenario.workload.embedding;
  const std::int64_t result = result_bytes(work);
  if (result > kMostOfMessage) {
    return check.fail(kRowsPerWg, text(work.rows_per_wg) + " rows of " + text(row_bytes(work)) +
                                      " B exceed the limit of a message, 4 GiB; at most " +
                                      text(kMostOfMessage / row_bytes(work)) + " rows per WG");
  }
  if (!fuses(check.scenario) || !check.good({"modes", "fused.slice_wgs"})) return;
  const int slice = check.scenario.fused.slice_wgs;
  if (product_exceeds(result, slice, kMostOfMessage)) {
    check.fail("fused.slice_wgs", text(slice) + " results of " + text(result) +
                                      " B exceed the limit of a message, 4 GiB; at most " +
                                      text(kMostOfMessage / result) + " WGs per slice");
  }
}

void bytes_of_a_pair_can_be_counted(const Check& check) {
  if (!counts_are_good(check)) return;
  const std::int64_t wgs = wgs_per_destination(check.scenario);
  const std::int64_t result = result_bytes(check.scenario.workload.embedding);
  if (!product_exceeds(wgs, result, kMostBytes)) return;
  check.fail("workload.batch", text(wgs) + " results of " + text(result) +
                                   " B for each peer exceed 2^60 B; use a smaller batch,"
                                   " fewer tables or a smaller dim");
}

// A result below 4 GiB keeps the bytes of all its lookups below 2^54. Its time is bounded from
// above: loads one after another, adds on a quarter of one CU. Times a jitter of 1.9 and 1024 WGs
// on a CU they still fit 63 bits of picoseconds.
void a_wg_ends(const Check& check) {
  if (!sizes_are_good(check) ||
      !check.good({"workload.pooling", "cluster.gpu.cus", "cluster.gpu.fp32_vector",
                   "cluster.gpu.memory", "cluster.gpu.gather", "cluster.gpu.l2"})) {
    return;
  }
  const EmbeddingWork& work = check.scenario.workload.embedding;
  if (result_bytes(work) > kMostOfMessage) return;  // said above
  const GpuSpec& gpu = check.scenario.cluster.gpu;
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double lookups = real(work.rows_per_wg) * real(work.pooling);
  const double loads = lookups * real(round_up(row_bytes(work), work.load.count()));
  const double bytes = lookups * real(row_bytes(work) + 8) + real(work.rows_per_wg) * 4 * work.dim;
  // At most 1024 loads in flight: ten doublings.
  const double waiting = real(gpu.gather.latency.count()) + real(gpu.gather.cached.count()) +
                         10 * real(gpu.gather.doubling.count());
  const double l2 = gpu.l2.bandwidth.count() == 0
                        ? 0
                        : bytes * gpu.cus * gpu.cu.wgs / real(gpu.l2.bandwidth.count());
  const double memory = bytes * gpu.memory.write_cost / real(gpu.memory.bandwidth.count());
  const double loading = std::max({2 * loads * waiting * 1e-12, memory, l2});
  const double adding = lookups * work.dim * 2 * 4 * gpu.cus / real(gpu.fp32_vector.count());
  constexpr double kMostLoading = 4'000'000;  // seconds
  constexpr double kMostAdding = 4'000;
  if (loading <= kMostLoading && adding <= kMostAdding) return;
  check.fail(kRowsPerWg, "the " + text(static_cast<std::int64_t>(lookups)) +
                             " lookups of one WG would take more than " +
                             (adding > kMostAdding ? "an hour to add up on one CU"
                                                   : "a month, one after another") +
                             "; use fewer rows per WG, less pooling or a smaller dim");
}

// Messages of one pair in mode fused: stores of WGs, puts or flags of slices, one flag more.
std::int64_t fused_messages(const Check& check) {
  if (!fuses(check.scenario) || !check.good({"modes", "fused.slice_wgs"})) return 0;
  const std::int64_t wgs = wgs_per_destination(check.scenario);
  const bool stores = check.scenario.cluster.gpus_per_node > 1;
  return wgs / check.scenario.fused.slice_wgs + 1 + (stores ? wgs : 0);
}

void wgs_can_be_counted(const Check& check) {
  if (!counts_are_good(check)) return;
  const std::int64_t each = wgs_per_destination(check.scenario);
  const std::int64_t gpus = check.scenario.cluster.gpus();
  const std::int64_t of_one_gpu = each * gpus;  // at most batch x tables, 10^14
  if (product_exceeds(of_one_gpu, gpus, kMostItems)) {
    return check.fail(kRowsPerWg, text(of_one_gpu) + " WGs on each of " + text(gpus) +
                                      " GPUs are 2^31 or more in total; use more rows per WG, a"
                                      " smaller batch or fewer tables");
  }
  const std::int64_t result = result_bytes(check.scenario.workload.embedding);
  if (product_exceeds(each, result, kMostBytes)) return;  // said above
  const std::int64_t pairs = gpus * (gpus - 1);
  if (product_exceeds(fused_messages(check), pairs, kMostItems)) {
    check.fail(kRowsPerWg, text(fused_messages(check)) + " messages from each of " + text(gpus) +
                               " GPUs to each peer are 2^31 or more in total; use more rows"
                               " per WG, a smaller batch or fewer tables");
  }
}

void places_can_be_counted(const Check& check) {
  if (!check.good({"cluster.nodes", "cluster.gpus_per_node", "cluster.gpu.cus",
                   "cluster.gpu.cu.wgs", "cluster.gpu.dma.engines"})) {
    return;
  }
  const ClusterSpec& cluster = check.scenario.cluster;
  const std::int64_t each =
      std::int64_t{cluster.gpu.cus} * cluster.gpu.cu.wgs + cluster.gpu.dma.engines;
  if (!product_exceeds(each, cluster.gpus(), kMostItems)) return;
  check.fail("cluster.gpu.cus", text(each) + " slots for WGs and copy engines on each of " +
                                    text(cluster.gpus()) +
                                    " GPUs are 2^31 or more in total; use fewer CUs or GPUs");
}

}  // namespace

void validate_counts(const Check& check) {
  a_result_fits_a_message(check);
  bytes_of_a_pair_can_be_counted(check);
  a_wg_ends(check);
  wgs_can_be_counted(check);
  places_can_be_counted(check);
}

}  // namespace weft::rules
