#include "sim/gpu_model/gpu_fields.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario_fields.h"

namespace weft {
namespace {

// What a kernel's WG asks of its CU where the scenario does not say.
constexpr WgShape kBagWg{
    .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 4};
constexpr WgShape kGemvWg{
    .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 1};

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

void embedding_fields(Fields map, EmbeddingWork& work) {
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
             {.help = "type bytes of an element", .fallback = DataType::fp32});
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

void gemv_fields(Fields& map, GemvWork& gemv) {
  map.add("m", gemv.m, {.help = "rows of W: elements of y"});
  map.add("k", gemv.k, {.help = "columns of W on each GPU"});
  map.choice("dtype", gemv.dtype, names::kDataTypes,
             {.help = "type bytes of an element of W; y is fp32", .fallback = DataType::fp16});
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

// What a library's kernel decides by itself.
void described_gemm_fields(Fields map, GemmWork& gemm) {
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
  map.choice("schedule", gemm.schedule, names::kGemmSchedules,
             {.help = "how tiles are assigned to WGs", .fallback = GemmSchedule::tiles});
  wg_fields(map, gemm.wg, GemmWork{}.wg);
}

void gemm_fields(Fields& map, GemmWork& gemm) {
  map.add("m", gemm.m, {.help = "rows of C, of all peers together"});
  map.add("n", gemm.n, {.help = "columns of C"});
  map.add("k", gemm.k, {.help = "length of the sums on each GPU"});
  map.choice("dtype", gemm.dtype, names::kDataTypes,
             {.help = "type bytes of an element", .fallback = DataType::bf16});
  map.choice("kernel", gemm.by_library, names::kGemmKernels,
             {.help = "whose kernel", .fallback = false});
  described_gemm_fields(map.where("kernel", {"described"}), gemm);
  jitter_field(map, gemm.jitter);
}

void communication_fields(Fields& map, CollectiveWork& work) {
  map.choice("op", work.op, names::kCommunications, {.help = "which collective runs"});
  map.add(
      "bytes", work.bytes,
      {.help = "size of each GPU's buffer", .range = {{bytes(4096), bytes(1'000'000'000'000)}}});
}

}  // namespace

const WgShape& wg_of(const Workload& workload) {
  if (has_gemm(workload.kind)) return workload.gemm.wg;
  if (has_gemv(workload.kind)) return workload.gemv.wg;
  return workload.embedding.wg;
}

const char* path_of_wg(WorkloadKind kind) {
  if (has_gemm(kind)) return "workload.gemm.wg";
  return has_gemv(kind) ? "workload.gemv.wg" : "workload.wg";
}

CollectiveOp collective_of(const Workload& workload) {
  const Family family = row_of(workload.kind).family;
  if (family == Family::collective || family == Family::c3) return workload.collective.op;
  return row_of(workload.kind).collective.value_or(CollectiveOp::all_to_all);
}

void fields(Fields& map, Workload& workload) {
  map.choice("kind", workload.kind, names::kWorkloadKinds,
             {.help = "the operator and its collective"});
  embedding_fields(map.where("kind", names::words_that(names::kWorkloadKinds, embeds)),
                   workload.embedding);
  map.where("kind", names::words_that(names::kWorkloadKinds, has_gemv))
      .map("gemv", "y = W x on every GPU",
           [&](Fields& inner) { gemv_fields(inner, workload.gemv); });
  map.where("kind", names::words_that(names::kWorkloadKinds, has_gemm),
            "kind: gemm_..., all_gather_gemm, c3")
      .map("gemm", "C = A B on every GPU",
           [&](Fields& inner) { gemm_fields(inner, workload.gemm); });
  collective_fields(map.where("kind", {"collective"}), workload.collective);
  CollectiveWork beside = workload.collective;
  map.where("kind", {"c3"})
      .map("communication", "the collective that is independent of the GEMM",
           [&](Fields& inner) { communication_fields(inner, beside); });
  if (workload.kind == WorkloadKind::c3) workload.collective = beside;
  model_fields(map, workload);
  trace_fields(map, workload);
}

}  // namespace weft
