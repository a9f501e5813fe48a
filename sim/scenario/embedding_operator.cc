// Lookups of embeddings, forward and backward: their keys, and what must divide among GPUs, WGs,
// slices and chunks and fit memories. What must fit the widths of counts: validate_counts.cc.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"
#include "sim/scenario/operator_kind.h"
#include "sim/spec/fields.h"

namespace weft::rules {
namespace {

constexpr std::string_view kNodes = "cluster.nodes";
constexpr std::string_view kGpusPerNode = "cluster.gpus_per_node";
constexpr std::string_view kBatch = "workload.batch";
constexpr std::string_view kTables = "workload.tables_per_gpu";

void batch_divides_among_gpus(const Check& check) {
  if (!check.good({kNodes, kGpusPerNode, kBatch})) return;
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
  if (!check.good({kNodes, kGpusPerNode, kBatch, kRowsPerWg})) return;
  const std::int64_t samples = samples_per_gpu(check.scenario);
  const int rows = check.scenario.workload.embedding.rows_per_wg;
  if (samples % rows == 0) return;
  check.fail(std::string(kRowsPerWg),
             text(rows) + " rows per WG do not divide the " + text(samples) +
                 " samples of a GPU, so some WG would have two destinations; nearest: " +
                 divisors_around(samples, rows));
}

void slices_divide_the_wgs_of_a_destination(const Check& check) {
  if (!fuses(check.scenario)) return;
  if (!check.good({kNodes, kGpusPerNode, kBatch, kRowsPerWg, kTables, "fused.slice_wgs"})) return;
  const std::int64_t wgs = wgs_per_destination(check.scenario);
  const int slice = check.scenario.fused.slice_wgs;
  if (wgs % slice == 0) return;
  check.fail("fused.slice_wgs", "slices of " + text(slice) + " WGs do not divide the " + text(wgs) +
                                    " WGs that each GPU runs for one destination; nearest: " +
                                    divisors_around(wgs, slice));
}

void chunks_are_whole_tables(const Check& check) {
  if (!check.has(Mode::kernel)) return;
  if (!check.good({"kernel.chunks", kTables})) return;
  const int tables = check.scenario.workload.embedding.tables_per_gpu;
  const int chunks = check.scenario.kernel.chunks;
  if (chunks <= tables) return;
  check.fail("kernel.chunks", text(chunks) + " chunks of " + text(tables) +
                                  " tables per GPU: a chunk is at least one table; at most " +
                                  text(tables));
}

void tables_fit_in_memory(const Check& check) {
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
  if (!check.good({"workload.kernels", "workload.walk"})) return;
  const EmbeddingWork& work = check.scenario.workload.embedding;
  if (!work.kernel_per_table || work.walk == TableWalk::by_table) return;
  check.fail("workload.kernels",
             "a kernel for each table goes with walk: by_table, for WGs that "
             "visit all tables of a sample belong to no one table");
}

void rows_are_whole_words(const Check& check) {
  if (!check.good({"workload.dim", "workload.dtype"})) return;
  const EmbeddingWork& work = check.scenario.workload.embedding;
  constexpr std::int64_t kWord = 4;
  if (work.dim * size_of(work.dtype).count() % kWord == 0) return;
  check.fail("workload.dim", text(work.dim) + " elements of " + to_text(size_of(work.dtype)) +
                                 " are not a multiple of 4 B; nearest: " +
                                 multiples_around(work.dim, kWord / size_of(work.dtype).count()));
}

void backward_gets_whole_tables(const Check& check) {
  if (!check.good({"workload.kind", "workload.batch", "workload.rows_per_wg",
                   "workload.tables_per_gpu", "modes", "fused.slice_wgs"})) {
    return;
  }
  const Workload& workload = check.scenario.workload;
  const bool trains = is_model(workload.kind) && workload.phase == Phase::training;
  const bool backward = workload.kind == WorkloadKind::embedding_backward || trains;
  if (!backward) return;
  if (!knows_gpus(check) || !fuses(check.scenario)) return;
  const std::int64_t wgs = wgs_per_destination(check.scenario);
  const int tables = workload.embedding.tables_per_gpu;
  if (wgs == 0 || wgs % check.scenario.fused.slice_wgs != 0) return;  // said elsewhere
  slices_of_input(check, {.units = tables, .unit = wgs / tables, .parts = 1, .result_bytes = 0},
                  "tables");
}

void validate_embedding(const Check& check) {
  batch_divides_among_gpus(check);
  every_wg_has_one_destination(check);
  slices_divide_the_wgs_of_a_destination(check);
  chunks_are_whole_tables(check);
  tables_fit_in_memory(check);
  loads_of_a_chain_are_in_flight(check);
  a_kernel_of_each_table_has_its_rows(check);
  rows_are_whole_words(check);
  backward_gets_whole_tables(check);
}

}  // namespace
}  // namespace weft::rules

namespace weft {
namespace {

constexpr WgShape kBagWg{
    .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 4};

void embedding_keys(Fields& workload_map, Workload& workload) {
  Fields map = workload_map.where("kind", words_of(operators::embedding));
  EmbeddingWork& work = workload.embedding;
  map.add("batch", work.batch, {.help = "samples in the global batch"});
  map.add("tables_per_gpu", work.tables_per_gpu,
          {.help = "tables per GPU", .range = {{1, 100'000}}});
  map.add("rows_per_table", work.rows_per_table,
          {.help = "rows of one table", .range = {{1, 1'000'000'000'000}}});
  map.add("zipf", work.zipf,
          {.help = "row x of a table is looked up in proportion to (x + 1)^-zipf; 0: uniformly",
           .range = {{0, 4}},
           .fallback = 0});
  map.add("dim", work.dim, {.help = "elements of a row", .range = {{1, 1'000'000}}});
  map.add("pooling", work.pooling,
          {.help = "rows that are summed into one pooled row", .range = {{1, 1'000'000}}});
  map.choice("dtype", work.dtype, names::kDataTypes,
             {.help = "type of an element", .fallback = DataType::fp32});
  map.add("index_bytes", work.index_bytes,
          {.help = "bytes per lookup index", .range = {{1, 8}}, .fallback = 8});
  map.add("rows_per_wg", work.rows_per_wg, {.help = "pooled rows per WG, all for one destination"});
  map.choice("walk", work.walk, names::kTableWalks,
             {.help = "order in which WGs visit the tables", .fallback = TableWalk::by_table});
  map.add("chain", work.chain,
          {.help = "how many of wg.loads_in_flight wait for one another",
           .range = {{1, 1'024}},
           .fallback = 1});
  map.add("index_read", work.index_read,
          {.help = "bytes of a pooled row's indices that one wait brings: a cache line, or a "
                   "sector if the lanes load only that",
           .range = {{bytes(4), bytes(65'536)}},
           .fallback = bytes(128)});
  map.add("load", work.load,
          {.help = "bytes of a row that a thread loads at a time; wg.loads_in_flight counts these",
           .range = {{bytes(1), bytes(16)}},
           .fallback = bytes(16)});
  map.add("instructions", work.instructions,
          {.help = "instructions that a thread issues for each of its loads of a row; 0: only the "
                   "additions count",
           .range = {{0, 10'000}},
           .fallback = 0});
  map.choice("kernels", work.kernel_per_table, names::kLookupKernels,
             {.help = "how many kernels the plain version starts; a fused one is always one",
              .fallback = false});
  map.choice("l2_before", work.l2_is_warm, names::kL2Before,
             {.help = "what the L2 holds when the kernel starts", .fallback = false});
  wg_fields(map, work.wg, kBagWg);
  jitter_field(map, work.jitter);
}

WholeUnits tables_of_a_gpu(const rules::Check& check) {
  if (!check.good({"workload.tables_per_gpu"})) return {};
  return {check.scenario.workload.embedding.tables_per_gpu, "table", "tables"};
}

WgShape& wg_of_embedding(Workload& workload) { return workload.embedding.wg; }

}  // namespace

constinit const OperatorKind operators::embedding = {.fields = embedding_keys,
                                                     .rules = rules::validate_embedding,
                                                     .wg = wg_of_embedding,
                                                     .path_of_wg = "workload.wg",
                                                     .units = tables_of_a_gpu};

}  // namespace weft
