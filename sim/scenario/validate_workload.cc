#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/scenario/check.h"

namespace weft::rules {
namespace {

constexpr std::string_view kNodes = "cluster.nodes";
constexpr std::string_view kGpusPerNode = "cluster.gpus_per_node";
constexpr std::string_view kBatch = "workload.batch";
constexpr std::string_view kRowsPerWg = "workload.rows_per_wg";
constexpr std::string_view kTables = "workload.tables_per_gpu";

// Samples of one GPU, or 0 where the batch does not divide.
std::int64_t samples_per_gpu(const Scenario& scenario) {
  const std::int64_t batch = scenario.workload.embedding.batch;
  return batch % scenario.cluster.gpus() == 0 ? batch / scenario.cluster.gpus() : 0;
}

// WGs of one GPU whose results go to one destination, or 0 where a rule above is broken.
std::int64_t wgs_per_destination(const Scenario& scenario) {
  const EmbeddingWork& work = scenario.workload.embedding;
  const std::int64_t samples = samples_per_gpu(scenario);
  if (samples % work.rows_per_wg != 0) return 0;
  return samples / work.rows_per_wg * work.tables_per_gpu;
}

void batch_divides_among_gpus(const Check& check) {
  if (!check.embeds() || !check.good({kNodes, kGpusPerNode, kBatch})) return;
  if (samples_per_gpu(check.scenario) != 0) return;
  const std::int64_t batch = check.scenario.workload.embedding.batch;
  const int gpus = check.scenario.cluster.gpus();
  check.fail(std::string(kBatch), text(batch) + " samples do not divide among " + text(gpus) +
                                      " GPUs; nearest: " + multiples_around(batch, gpus));
}

void every_wg_has_one_destination(const Check& check) {
  if (!check.embeds() || !check.good({kNodes, kGpusPerNode, kBatch, kRowsPerWg})) return;
  const std::int64_t samples = samples_per_gpu(check.scenario);
  const int rows = check.scenario.workload.embedding.rows_per_wg;
  if (samples % rows == 0) return;
  check.fail(std::string(kRowsPerWg),
             text(rows) + " rows a WG do not divide the " + text(samples) +
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
                                  " tables a GPU: a chunk is at least one table; at most " +
                                  text(tables));
}

void wgs_can_be_counted(const Check& check) {
  if (!check.embeds()) return;
  if (!check.good({kNodes, kGpusPerNode, kBatch, kRowsPerWg, kTables})) return;
  const std::int64_t each = wgs_per_destination(check.scenario);
  if (each == 0) return;
  const int gpus = check.scenario.cluster.gpus();
  const std::int64_t of_one_gpu = each * gpus;  // at most batch x tables, 10^14
  constexpr std::int64_t kMost = 1LL << 31;
  if (of_one_gpu <= kMost / gpus) return;
  check.fail(std::string(kRowsPerWg), text(of_one_gpu) + " WGs on each of " + text(gpus) +
                                          " GPUs are more than 2^31; take more rows a WG, a"
                                          " smaller batch or fewer tables");
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
  check.fail("workload.rows_per_table",
             "the tables of a GPU take " + text(std::llround(all / 1e9)) +
                 " GB, its memory holds " + to_text(check.scenario.cluster.gpu.memory.capacity) +
                 "; at most " + text(most) + " rows a table");
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

void threads_are_whole_waves(const Check& check) {
  if (!check.embeds() || !check.good({"cluster.gpu.wave_size", "workload.wg.threads"})) return;
  const int threads = check.scenario.workload.embedding.wg.threads;
  const int wave = check.scenario.cluster.gpu.wave_size;
  if (threads % wave == 0) return;
  check.fail("workload.wg.threads", text(threads) + " threads are not whole waves of " +
                                        text(wave) +
                                        "; nearest: " + multiples_around(threads, wave));
}

void a_wg_fits_on_a_cu(const Check& check) {
  if (!check.embeds()) return;
  if (!check.good({"cluster.gpu.cu", "cluster.gpu.wave_size", "workload.wg"})) return;
  const CuResources& cu = check.scenario.cluster.gpu.cu;
  const WgShape& wg = check.scenario.workload.embedding.wg;
  const int waves = (wg.threads - 1) / check.scenario.cluster.gpu.wave_size + 1;
  if (waves > cu.waves) {
    check.fail("workload.wg.threads", "a WG of " + text(waves) + " waves does not fit on a CU of " +
                                          text(cu.waves) + "; at most " +
                                          text(cu.waves * check.scenario.cluster.gpu.wave_size) +
                                          " threads");
  }
  if (wg.lds > cu.lds) {
    check.fail("workload.wg.lds",
               to_text(wg.lds) + " a WG do not fit on a CU that has " + to_text(cu.lds));
  }
  const int most = cu.registers / wg.threads;
  if (wg.registers_per_thread > most) {
    return check.fail("workload.wg.registers_per_thread",
                      text(wg.threads) + " threads x " + text(wg.registers_per_thread) +
                          " registers do not fit on a CU that has " + text(cu.registers) +
                          "; at most " + text(most) + " a thread");
  }
  if (!check.has(Mode::fused) || !check.good({"fused.extra_registers_per_thread"})) return;
  const int extra = check.scenario.fused.extra_registers_per_thread;
  if (wg.registers_per_thread + extra > most) {
    check.fail("fused.extra_registers_per_thread",
               "a WG with " + text(wg.registers_per_thread) + " + " + text(extra) +
                   " registers a thread does not fit on a CU; at most " +
                   text(most - wg.registers_per_thread) + " extra");
  }
}

void modes_suit_the_workload(const Check& check) {
  if (check.embeds() || !check.good({"modes", "workload.kind"})) return;
  if (!check.has(Mode::kernel) && !check.has(Mode::fused)) return;
  check.fail("modes", "all_to_all has no kernel to overlap with: only [bulk]");
}

void copy_engines_reach_every_peer(const Check& check) {
  if (!check.has(Mode::bulk) || !check.good({"bulk.executor", kNodes})) return;
  if (check.scenario.bulk.executor != CollectiveExecutor::dma) return;
  if (check.scenario.cluster.nodes == 1) return;
  check.fail("bulk.executor", "dma needs one node, because copy engines cannot drive a NIC; with " +
                                  text(check.scenario.cluster.nodes) + " nodes use cu");
}

}  // namespace

void validate_workload(const Check& check) {
  batch_divides_among_gpus(check);
  every_wg_has_one_destination(check);
  slices_divide_the_wgs_of_a_destination(check);
  chunks_are_whole_tables(check);
  wgs_can_be_counted(check);
  tables_fit_in_memory(check);
  rows_are_whole_words(check);
  threads_are_whole_waves(check);
  a_wg_fits_on_a_cu(check);
  modes_suit_the_workload(check);
  copy_engines_reach_every_peer(check);
}

}  // namespace weft::rules
