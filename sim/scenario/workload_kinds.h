// Kinds of workloads, one row each. Code that needs to know what kinds differ in asks their rows,
// here; only a kind's own code compares kinds by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/plans/collective_op.h"

namespace weft {

enum class WorkloadKind {
  embedding_all_to_all,
  embedding_backward,
  gemv_all_reduce,
  gemm_all_to_all,
  gemm_reduce_scatter,
  gemm_all_reduce,
  all_gather_gemm,
  all_to_all_gemm,
  collective,
  c3,
  dlrm,
  transformer,
  moe,
  chakra,
  pytorch,
  nsys,
  rocprof,
  graph
};

// What a kind is made of.
enum class Family : std::uint8_t {
  pair,        // an operator and the collective that depends on it
  collective,  // a collective alone
  c3,          // an operator and a collective that do not depend on each other
  model,       // many operators (sim/models)
  trace        // the same, from files: recorded, or listed one by one
};

// Of a pair: results travel after the kernel, or its input before it.
enum class Travels : std::uint8_t { result, input };

struct OperatorKind;  // operator_kind.h

namespace operators {
extern const OperatorKind embedding;
extern const OperatorKind gemv;
extern const OperatorKind gemm;
}  // namespace operators

struct ModelKind;  // model_kind.h

namespace model_kinds {
extern const ModelKind dlrm;
extern const ModelKind decoder;
}  // namespace model_kinds

// Of a pair: how far fused over bulk was from weft's prediction, for 90 % of what was measured, and
// the row of docs/accuracy.md that says so ("fused / bulk, difference"): the largest of the rows
// that stand for one kernel fused as weft does it, our own on H200, and as operators of PyTorch on
// two and four H100. Not of the harness's few lines of the GEMM by wgmma (docs/validation.md).
struct RatioError {
  double within = 0;  // 0: nobody measured such pairs
  const char* row = "";
};

struct KindRow {
  const char* name;
  WorkloadKind kind;
  const char* meaning;
  Family family;
  const OperatorKind* computes;                 // whose WGs the workload describes; or null
  const char* title = "";                       // for people; models have one by phase
  std::optional<CollectiveOp> collective = {};  // of a pair; else the workload says it
  Travels travels = Travels::result;
  RatioError error = {};
  const ModelKind* model = nullptr;  // of whole models
  bool adds_up = false;      // of whole models: has fused operators whose WGs add up what is sent
  const char* files = "";    // of a trace, what the key `path` names
  bool wgs_unknown = false;  // of a trace: it does not say of how many WGs its kernels are
};

// Pairs come first: these are what a model's operators may be fused as.
inline constexpr auto kKindRows = std::to_array<KindRow>({
    {"embedding_all_to_all", WorkloadKind::embedding_all_to_all,
     "rows are looked up, pooled and sent to the samples' owners", Family::pair,
     &operators::embedding, "embedding + all-to-all", CollectiveOp::all_to_all, Travels::result,
     RatioError{0.094, "torch.emb.hip"}},
    {"embedding_backward", WorkloadKind::embedding_backward,
     "gradients are sent to the tables' owners and added to the rows", Family::pair,
     &operators::embedding, "all-to-all + embedding backward", CollectiveOp::all_to_all,
     Travels::input},
    {"gemv_all_reduce", WorkloadKind::gemv_all_reduce,
     "y = W x, with a partial sum on each GPU; all GPUs get the total", Family::pair,
     &operators::gemv, "GEMV + all-reduce", CollectiveOp::all_reduce, Travels::result,
     RatioError{0.154, "gemv.fused"}},
    {"gemm_all_to_all", WorkloadKind::gemm_all_to_all,
     "an expert's GEMM; rows of C are sent to their tokens' owners", Family::pair, &operators::gemm,
     "GEMM + all-to-all", CollectiveOp::all_to_all, Travels::result,
     RatioError{0.127, "torch.gemm.triton"}},
    {"gemm_reduce_scatter", WorkloadKind::gemm_reduce_scatter,
     "C = A B, with a partial sum on each GPU; each gets its rows of the total", Family::pair,
     &operators::gemm, "GEMM + reduce-scatter", CollectiveOp::reduce_scatter, Travels::result,
     RatioError{0.118, "torch.gemm_rs.triton"}},
    {"gemm_all_reduce", WorkloadKind::gemm_all_reduce, "the same, but all GPUs get the whole total",
     Family::pair, &operators::gemm, "GEMM + all-reduce", CollectiveOp::all_reduce},
    {"all_gather_gemm", WorkloadKind::all_gather_gemm, "rows of A are gathered, then multiplied",
     Family::pair, &operators::gemm, "all-gather + GEMM", CollectiveOp::all_gather, Travels::input,
     RatioError{0.127, "torch.ag_gemm.triton"}},
    {"all_to_all_gemm", WorkloadKind::all_to_all_gemm,
     "rows of A come from their tokens' owners; an expert's GEMM", Family::pair, &operators::gemm,
     "all-to-all + GEMM", CollectiveOp::all_to_all, Travels::input},
    {"collective", WorkloadKind::collective, "a collective alone", Family::collective, nullptr},
    {"c3", WorkloadKind::c3, "a GEMM and an independent collective at the same time", Family::c3,
     &operators::gemm, "GEMM with a concurrent collective"},
    {.name = "dlrm",
     .kind = WorkloadKind::dlrm,
     .meaning = "a recommendation model",
     .family = Family::model,
     .computes = &operators::embedding,
     .title = "recommendation model",
     .model = &model_kinds::dlrm},
    {.name = "transformer",
     .kind = WorkloadKind::transformer,
     .meaning = "decoder-only language model",
     .family = Family::model,
     .computes = nullptr,
     .title = "language model",
     .model = &model_kinds::decoder,
     .adds_up = true},
    {.name = "moe",
     .kind = WorkloadKind::moe,
     .meaning = "the same with a mixture of experts",
     .family = Family::model,
     .computes = nullptr,
     .title = "language model with experts",
     .model = &model_kinds::decoder,
     .adds_up = true},
    {.name = "chakra",
     .kind = WorkloadKind::chakra,
     .meaning = "a recorded trace in Chakra's format",
     .family = Family::trace,
     .computes = nullptr,
     .title = "recorded trace",
     .files = "PATH.0.et, PATH.1.et ...",
     .wgs_unknown = true},
    {.name = "pytorch",
     .kind = WorkloadKind::pytorch,
     .meaning = "a trace recorded by PyTorch",
     .family = Family::trace,
     .computes = nullptr,
     .title = "recorded trace",
     .files = "folder of Kineto profiles"},
    {.name = "nsys",
     .kind = WorkloadKind::nsys,
     .meaning = "a profile of Nsight Systems, exported to SQLite",
     .family = Family::trace,
     .computes = nullptr,
     .title = "recorded trace",
     .files = "file of nsys export --type sqlite, or folder of them"},
    {.name = "rocprof",
     .kind = WorkloadKind::rocprof,
     .meaning = "profiles of rocprofv3, databases or JSON",
     .family = Family::trace,
     .computes = nullptr,
     .title = "recorded trace",
     .files = "folder of databases or JSON files of rocprofv3, or one of all processes"},
    {.name = "graph",
     .kind = WorkloadKind::graph,
     .meaning = "operators that a file lists, from weft import or export, or from a generator",
     .family = Family::trace,
     .computes = nullptr,
     .title = "graph of operators",
     .adds_up = true,
     .files = "file of YAML, or JSON",
     .wgs_unknown = true},
});

// Rows stand in the order of the enumeration.
constexpr const KindRow& row_of(WorkloadKind kind) {
  return kKindRows[static_cast<std::size_t>(kind)];
}
constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kKindRows.size(); ++i) {
    if (static_cast<std::size_t>(kKindRows[i].kind) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

constexpr bool is_pair(WorkloadKind kind) { return row_of(kind).family == Family::pair; }
constexpr bool is_trace(WorkloadKind kind) { return row_of(kind).family == Family::trace; }
// Built from many operators (sim/models), not one and its collective.
constexpr bool is_model(WorkloadKind kind) {
  return row_of(kind).family == Family::model || is_trace(kind);
}

// Has an EmbeddingWork; a GemvWork; a GemmWork.
constexpr bool embeds(WorkloadKind kind) { return row_of(kind).computes == &operators::embedding; }
constexpr bool has_gemv(WorkloadKind kind) { return row_of(kind).computes == &operators::gemv; }
constexpr bool has_gemm(WorkloadKind kind) { return row_of(kind).computes == &operators::gemm; }

// Has a TransformerSpec.
constexpr bool is_decoder(WorkloadKind kind) { return row_of(kind).model == &model_kinds::decoder; }

// Results travel to the peers; for other kinds, input comes from the peers.
constexpr bool results_travel(WorkloadKind kind) { return row_of(kind).travels == Travels::result; }

// Has fused operators in which WGs add up what all GPUs have sent.
constexpr bool adds_up(WorkloadKind kind) {
  const std::optional<CollectiveOp> op = row_of(kind).collective;
  return row_of(kind).adds_up || (op && reduces(*op));
}

}  // namespace weft
