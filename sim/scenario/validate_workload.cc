#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/scenario/check.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"

namespace weft::rules {
namespace {

constexpr std::string_view kNodes = "cluster.nodes";
constexpr std::string_view kGpusPerNode = "cluster.gpus_per_node";
constexpr std::string_view kBatch = "workload.batch";
constexpr std::string_view kTables = "workload.tables_per_gpu";

void batch_divides_among_gpus(const Check& check) {
  if (!check.embeds() || !check.good({kNodes, kGpusPerNode, kBatch})) return;
  if (samples_per_gpu(check.scenario) != 0) return;
  const std::int64_t batch = check.scenario.workload.embedding.batch;
  const int gpus = check.scenario.cluster.gpus();
  // What is suggested suits the other rule too.
  const int rows = check.good({kRowsPerWg}) ? check.scenario.workload.embedding.rows_per_wg : 1;
  const std::int64_t step = std::int64_t{gpus} * rows;
  check.fail(std::string(kBatch),
             text(batch) + " samples do not divide among " + text(gpus) +
                 " GPUs in blocks of rows_per_wg; nearest: " + multiples_around(batch, step));
}

void every_wg_has_one_destination(const Check& check) {
  if (!check.embeds() || !check.good({kNodes, kGpusPerNode, kBatch, kRowsPerWg})) return;
  const std::int64_t samples = samples_per_gpu(check.scenario);
  const int rows = check.scenario.workload.embedding.rows_per_wg;
  if (samples % rows == 0) return;
  check.fail(std::string(kRowsPerWg),
             text(rows) + " rows per WG do not divide the " + text(samples) +
                 " samples of a GPU, so some WG would have two destinations; nearest: " +
                 divisors_around(samples, rows));
}

void slices_divide_the_wgs_of_a_destination(const Check& check) {
  if (!check.embeds() || !check.has(Mode::fused)) return;
  if (!check.good({kNodes, kGpusPerNode, kBatch, kRowsPerWg, kTables, "fused.slice_wgs"})) return;
  const std::int64_t wgs = wgs_per_destination(check.scenario);
  const int slice = check.scenario.fused.slice_wgs;
  if (wgs % slice == 0) return;
  check.fail("fused.slice_wgs", "slices of " + text(slice) + " WGs do not divide the " + text(wgs) +
                                    " WGs that each GPU runs for one destination; nearest: " +
                                    divisors_around(wgs, slice));
}

void chunks_are_whole_tables(const Check& check) {
  if (!check.embeds() || !check.has(Mode::kernel)) return;
  if (!check.good({"kernel.chunks", kTables})) return;
  const int tables = check.scenario.workload.embedding.tables_per_gpu;
  const int chunks = check.scenario.kernel.chunks;
  if (chunks <= tables) return;
  check.fail("kernel.chunks", text(chunks) + " chunks of " + text(tables) +
                                  " tables per GPU: a chunk is at least one table; at most " +
                                  text(tables));
}

void tables_fit_in_memory(const Check& check) {
  if (!check.embeds()) return;
  if (!check.good({"cluster.gpu.memory.capacity", kTables, "workload.rows_per_table",
                   "workload.dim", "workload.dtype"})) {
    return;
  }
  const EmbeddingWork& work = check.scenario.workload.embedding;
  const auto capacity = static_cast<double>(check.scenario.cluster.gpu.memory.capacity.count());
  const double row =
      static_cast<double>(work.dim) * static_cast<double>(size_of(work.dtype).count());
  const double table_bytes = static_cast<double>(work.rows_per_table) * row;
  const double all = work.tables_per_gpu * table_bytes;
  if (all <= capacity) return;
  const auto most = static_cast<std::int64_t>(capacity / work.tables_per_gpu / row);
  check.fail("workload.rows_per_table", "the tables of a GPU take " +
                                            text(std::llround(all / 1e9)) +
                                            " GB, but its memory holds " +
                                            to_text(check.scenario.cluster.gpu.memory.capacity) +
                                            "; at most " + text(most) + " rows per table");
}

void loads_of_a_chain_are_in_flight(const Check& check) {
  if (!check.embeds()) return;
  const int loads = check.scenario.workload.embedding.wg.loads_in_flight;
  const auto refuse_more = [&](const char* key, int chain) {
    if (!check.good({key, "workload.wg.loads_in_flight"}) || chain <= loads) return;
    check.fail(key, text(chain) + " of " + text(loads) +
                        " loads in flight (wg.loads_in_flight) cannot wait for one another; at "
                        "most " +
                        text(loads));
  };
  refuse_more("workload.chain", check.scenario.workload.embedding.chain);
  refuse_more("fused.chain", check.scenario.fused.chain);
}

void a_kernel_of_each_table_has_its_rows(const Check& check) {
  if (!check.embeds() || !check.good({"workload.kernels", "workload.walk"})) return;
  const EmbeddingWork& work = check.scenario.workload.embedding;
  if (!work.kernel_per_table || work.walk == TableWalk::by_table) return;
  check.fail("workload.kernels",
             "a kernel for each table goes with walk: by_table, for WGs that "
             "visit all tables of a sample belong to no one table");
}

void rows_are_whole_words(const Check& check) {
  if (!check.embeds() || !check.good({"workload.dim", "workload.dtype"})) return;
  const EmbeddingWork& work = check.scenario.workload.embedding;
  constexpr std::int64_t kWord = 4;
  if (work.dim * size_of(work.dtype).count() % kWord == 0) return;
  check.fail("workload.dim", text(work.dim) + " elements of " + to_text(size_of(work.dtype)) +
                                 " are not a multiple of 4 B; nearest: " +
                                 multiples_around(work.dim, kWord / size_of(work.dtype).count()));
}

void modes_suit_the_workload(const Check& check) {
  if (!check.good({"modes", "workload.kind"})) return;
  const WorkloadKind kind = check.scenario.workload.kind;
  const std::span<const Mode> suiting = modes_of(kind);
  std::string wrong;
  for (const Mode mode : check.scenario.modes) {
    if (std::find(suiting.begin(), suiting.end(), mode) != suiting.end()) continue;
    wrong += (wrong.empty() ? "" : ", ") + std::string(name_of(mode));
  }
  if (wrong.empty()) return;
  std::string right;
  for (const Mode mode : suiting) right += (right.empty() ? "" : ", ") + std::string(name_of(mode));
  check.fail("modes", "kind " + std::string(names::word(names::kWorkloadKinds, kind)) +
                          " has no mode " + wrong + "; it has " + right);
}

void copy_engines_can_pipeline(const Check& check) {
  if (!check.has(Mode::pipelined) || !check.good({"modes", "workload.kind", kNodes})) return;
  const std::string why_not = why_not_pipelined(check.scenario);
  if (why_not.empty()) return;
  check.fail("modes", "pipelined does not suit this workload: " + why_not +
                          "; leave it out, or use all for the modes that do");
}

}  // namespace

void validate_workload(const Check& check) {
  batch_divides_among_gpus(check);
  every_wg_has_one_destination(check);
  slices_divide_the_wgs_of_a_destination(check);
  chunks_are_whole_tables(check);
  tables_fit_in_memory(check);
  loads_of_a_chain_are_in_flight(check);
  a_kernel_of_each_table_has_its_rows(check);
  rows_are_whole_words(check);
  modes_suit_the_workload(check);
  copy_engines_can_pipeline(check);
}

}  // namespace weft::rules
