#include "sim/scenario/names.h"
#include "sim/scenario/read.h"

namespace weft {
namespace {

constexpr Range<std::int64_t> kRegistersPerThread{1, 4'096};

// What a kernel's WG asks of its CU where the scenario does not say.
WgShape read_wg(MapReader map, const WgShape& fallback) {
  const WgShape wg{
      .threads = map.count_or("threads", fallback.threads, {1, 1'024}, "threads of a WG"),
      .registers_per_thread =
          map.count_or("registers_per_thread", fallback.registers_per_thread, kRegistersPerThread,
                       "32-bit vector registers of a thread"),
      .lds = map.size_or("lds", fallback.lds, "local data share of a WG"),
      .loads_in_flight = map.count_or("loads_in_flight", fallback.loads_in_flight, {1, 1'024},
                                      "16-byte loads a thread keeps outstanding")};
  map.finish();
  return wg;
}

constexpr WgShape kBagWg{
    .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 4};
constexpr WgShape kGemvWg{
    .threads = 256, .registers_per_thread = 64, .lds = bytes(0), .loads_in_flight = 1};
// A tile of accumulators and a pipeline of operands: two WGs of 128 x 128 on most CUs.
constexpr WgShape kGemmWg{
    .threads = 256, .registers_per_thread = 128, .lds = bytes(32'768), .loads_in_flight = 8};

EmbeddingWork read_embedding(MapReader map) {
  return {
      .batch = map.integer("batch", kCount, "samples of the global batch"),
      .tables_per_gpu = map.count("tables_per_gpu", {1, 100'000}, "tables of each GPU"),
      .rows_per_table = map.integer("rows_per_table", {1, 1'000'000'000'000}, "rows of one table"),
      .zipf =
          map.number_or("zipf", 0, {0, 4},
                        "row x of a table is asked for as often as (x + 1)^-zipf; 0: all alike"),
      .dim = map.count("dim", {1, 1'000'000}, "elements of a row"),
      .pooling = map.count("pooling", {1, 1'000'000}, "rows summed up for one pooled row"),
      .dtype = map.choice_or("dtype", DataType::fp32, names::table(names::kDataTypes),
                             "type of an element"),
      .index_bytes = map.count_or("index_bytes", 8, {1, 8}, "of one looked-up row's number"),
      .rows_per_wg = map.count("rows_per_wg", {1, 1'000'000'000},
                               "pooled rows of one WG, all for one destination"),
      .walk = map.choice_or("walk", TableWalk::by_table, names::table(names::kTableWalks),
                            "order in which WGs come to the tables"),
      .chain = map.count_or("chain", 1, {1, 1'024},
                            "loads of wg.loads_in_flight that wait for one another"),
      .index_read = map.size_or("index_read", bytes(128),
                                "of a pooled row's indices, what one wait brings: a line of the "
                                "cache, or a sector of it where the lanes load only that",
                                {bytes(4), bytes(65'536)}),
      .wg = read_wg(map.map_of_defaults("wg", "what a WG asks of its CU"), kBagWg),
      .jitter = map.fraction_or("jitter", 0, {0, 0.9},
                                "each WG's work varies evenly by +- this fraction")};
}

GemvWork read_gemv(MapReader map) {
  const GemvWork gemv{
      .m = map.integer("m", kCount, "rows of W: elements of y"),
      .k = map.integer("k", kCount, "columns of W on each GPU"),
      .dtype = map.choice_or("dtype", DataType::fp16, names::table(names::kDataTypes),
                             "type of an element of W; y is fp32"),
      .rows_per_wg = map.count("rows_per_wg", {1, 1'000'000}, "rows of one WG, a wave for each"),
      .weights_in_l2 = map.choice_or("weights", false, names::table(names::kWeights),
                                     "where W is when the kernel starts"),
      .load_sums = map.duration_or("load_sums", {},
                                   "of a wave, the sums of one load (16 B a lane) that its next "
                                   "loads wait for"),
      .wg = read_wg(map.map_of_defaults("wg", "what a WG asks of its CU"), kGemvWg),
      .jitter = map.fraction_or("jitter", 0, {0, 0.9},
                                "each WG's work varies evenly by +- this fraction")};
  map.finish();
  return gemv;
}

GemmWork read_gemm(MapReader map) {
  constexpr Range<std::int64_t> kTile{1, 4'096};
  const auto order = map.choice_or("order", TileOrder::swizzled, names::table(names::kTileOrders),
                                   "which tiles run together: within the rows of each peer");
  const GemmWork gemm{
      .m = map.integer("m", kCount, "rows of C, all peers' together"),
      .n = map.integer("n", kCount, "columns of C"),
      .k = map.integer("k", kCount, "products summed up on each GPU"),
      .dtype = map.choice_or("dtype", DataType::bf16, names::table(names::kDataTypes),
                             "type of an element"),
      .tile_m = map.count_or("tile_m", 128, kTile, "rows of C that one WG makes"),
      .tile_n = map.count_or("tile_n", 128, kTile, "columns of C that one WG makes"),
      .split_k = map.count_or("split_k", 1, {1, 1'024}, "WGs that share a tile, each part of k"),
      .order = order,
      .swizzle = map.where(order == TileOrder::swizzled, "order: swizzled")
                     .count_or("swizzle", 8, {1, 1'000'000}, "rows of tiles in a group"),
      .efficiency =
          map.fraction_or("efficiency", 0.7, {0.001, 1}, "of the matrix peak, on a CU full of WGs"),
      .alone = map.fraction_or("alone", 1, {0.01, 1},
                               "of that, what one WG reaches with a CU to itself"),
      .schedule = map.choice_or("schedule", GemmSchedule::tiles,
                                names::table(names::kGemmSchedules), "how tiles come to WGs"),
      .wg = read_wg(map.map_of_defaults("wg", "what a WG asks of its CU"), kGemmWg),
      .jitter = map.fraction_or("jitter", 0, {0, 0.9},
                                "each WG's work varies evenly by +- this fraction")};
  map.finish();
  return gemm;
}

CollectiveWork read_communication(MapReader map) {
  const auto op = map.choice<CollectiveOp>("op", names::kCommunications, "what the GPUs exchange");
  CollectiveWork communication;
  communication.op = op.value_or(CollectiveOp::all_to_all);
  communication.bytes =
      map.size("bytes", "of each GPU's buffer", {bytes(4096), bytes(1'000'000'000'000)});
  map.finish();
  return communication;
}

bool is_gemm(WorkloadKind kind) {
  return kind == WorkloadKind::gemm_all_to_all || kind == WorkloadKind::gemm_reduce_scatter ||
         kind == WorkloadKind::gemm_all_reduce || kind == WorkloadKind::all_gather_gemm ||
         kind == WorkloadKind::c3;
}

}  // namespace

const WgShape& wg_of(const Workload& workload) {
  if (is_gemm(workload.kind)) return workload.gemm.wg;
  if (workload.kind == WorkloadKind::gemv_all_reduce) return workload.gemv.wg;
  return workload.embedding.wg;
}

CollectiveOp collective_of(const Workload& workload) {
  switch (workload.kind) {
    case WorkloadKind::embedding_all_to_all:
    case WorkloadKind::embedding_backward:
    case WorkloadKind::gemm_all_to_all:
    case WorkloadKind::dlrm:
    case WorkloadKind::transformer:
    case WorkloadKind::moe:
    case WorkloadKind::chakra:
    case WorkloadKind::pytorch:
      break;
    case WorkloadKind::gemv_all_reduce:
    case WorkloadKind::gemm_all_reduce:
      return CollectiveOp::all_reduce;
    case WorkloadKind::gemm_reduce_scatter:
      return CollectiveOp::reduce_scatter;
    case WorkloadKind::all_gather_gemm:
      return CollectiveOp::all_gather;
    case WorkloadKind::collective:
    case WorkloadKind::c3:
      return workload.collective.op;
  }
  return CollectiveOp::all_to_all;
}

Workload read_workload(MapReader map) {
  const auto kind = map.choice<WorkloadKind>("kind", names::table(names::kWorkloadKinds),
                                             "the operator and its collective");
  const auto is = [&](bool (*suits)(WorkloadKind)) {
    return kind ? std::optional(suits(*kind)) : std::nullopt;
  };
  const auto is_gemv = [](WorkloadKind k) { return k == WorkloadKind::gemv_all_reduce; };
  const auto is_collective = [](WorkloadKind k) { return k == WorkloadKind::collective; };
  const auto is_c3 = [](WorkloadKind k) { return k == WorkloadKind::c3; };
  Workload workload;
  workload.kind = kind.value_or(WorkloadKind::embedding_all_to_all);
  workload.embedding =
      read_embedding(map.where(is(embeds), "kind: embedding_all_to_all, embedding_backward, dlrm"));
  workload.gemv = read_gemv(
      map.where(is(is_gemv), "kind: gemv_all_reduce").map("gemv", "y = W x on every GPU"));
  workload.gemm = read_gemm(map.where(is(is_gemm), "kind: gemm_..., all_gather_gemm, c3")
                                .map("gemm", "C = A B on every GPU"));
  workload.collective =
      read_collective_work(map.where(is(is_collective), "kind: collective"), is(is_collective));
  const CollectiveWork beside = read_communication(
      map.where(is(is_c3), "kind: c3").map("communication", "the collective beside the GEMM"));
  if (workload.kind == WorkloadKind::c3) workload.collective = beside;
  read_model(map, kind, workload);
  workload.trace = read_trace(map, kind);
  map.finish();
  return workload;
}

}  // namespace weft
