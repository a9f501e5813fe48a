// The table of described operators: what each computes, as an operator of models, and its WGs.
#include "sim/models/operators.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/core/assert.h"
#include "sim/workloads/gemm.h"
#include "sim/workloads/gemv.h"

namespace weft {
namespace {

struct OperatorRow {
  const OperatorKind* kind;
  ModelOp (*op)(const Workload& workload);  // its shape says what reports and estimates count
  // Null: as models have it, by the shape.
  Grid (*grid)(const DescribedKernel& kernel, const GpuSpec& gpu, std::uint32_t peers,
               const KernelVersion* version) = nullptr;
};

ModelOp op_of(const char* name, OpShape shape, Boxed<DescribedKernel> described = {}) {
  ModelOp op;
  op.name = name;
  op.shape = std::move(shape);
  op.described = std::move(described);
  return op;
}

ModelOp embedding_op(const Workload& work) {
  const bool forward = results_travel(work.kind);
  return op_of(forward ? "embedding" : "embedding_backward",
               EmbeddingShape{.work = work.embedding, .backward = !forward});
}

// One row of A times W transposed.
ModelOp gemv_op(const Workload& work) {
  const GemvWork& gemv = work.gemv;
  return op_of("gemv",
               GemmShape{.m = 1, .n = gemv.m, .k = gemv.k, .dtype = gemv.dtype, .m_by_rank = {}},
               DescribedKernel{.kind = &operators::gemv, .work = gemv});
}

Grid gemv_wgs(const DescribedKernel& kernel, const GpuSpec& gpu, std::uint32_t peers,
              const KernelVersion* version) {
  return gemv_grid(std::get<GemvWork>(kernel.work), gpu, peers,
                   version != nullptr ? *version : KernelVersion{});
}

ModelOp gemm_op(const Workload& work) {
  const GemmWork& gemm = work.gemm;
  return op_of(
      "gemm",
      GemmShape{.m = gemm.m, .n = gemm.n, .k = gemm.k, .dtype = gemm.dtype, .m_by_rank = {}},
      DescribedKernel{.kind = &operators::gemm, .work = gemm});
}

Grid gemm_wgs(const DescribedKernel& kernel, const GpuSpec& gpu, std::uint32_t peers,
              const KernelVersion* version) {
  const auto& gemm = std::get<GemmWork>(kernel.work);
  return version != nullptr ? gemm_grid(gemm, gpu, peers, *version) : gemm_shape(gemm, peers);
}

constexpr std::array kOperators = {
    OperatorRow{&operators::embedding, embedding_op},
    OperatorRow{&operators::gemv, gemv_op, gemv_wgs},
    OperatorRow{&operators::gemm, gemm_op, gemm_wgs},
};

const OperatorRow& operator_row(const OperatorKind* kind) {
  const auto* const row =
      std::find_if(kOperators.begin(), kOperators.end(),
                   [&](const OperatorRow& other) { return other.kind == kind; });
  SIM_ASSERT(row != kOperators.end());
  return *row;
}

}  // namespace

ModelOp described_op(const Workload& workload) {
  return operator_row(row_of(workload.kind).computes).op(workload);
}

Grid described_grid(const DescribedKernel& kernel, const GpuSpec& gpu, std::uint32_t peers,
                    const KernelVersion* version) {
  return operator_row(kernel.kind).grid(kernel, gpu, peers, version);
}

}  // namespace weft
