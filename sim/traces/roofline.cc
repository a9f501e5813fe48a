#include "sim/traces/roofline.h"

#include <algorithm>
#include <cmath>

#include "sim/core/overloaded.h"
#include "sim/models/op_kernel.h"

namespace weft {
namespace {

Bytes elements(std::int64_t count, DataType type) { return size_of(type) * count; }

Bytes of_gemm(const GemmShape& gemm) {
  const std::int64_t m = gemm.m_by_rank.empty()
                             ? gemm.m
                             : *std::max_element(gemm.m_by_rank.begin(), gemm.m_by_rank.end());
  const auto weights = static_cast<double>(gemm.k * gemm.n) * size_of_b(gemm);
  return elements(m * gemm.k + std::llround(weights) + m * gemm.n, gemm.dtype) * gemm.batch;
}

Bytes of_attention(const AttentionShape& attention) {
  const std::int64_t both = attention.head_dim + attention.value_head_dim;
  const std::int64_t keys = sees_a_window(attention)
                                ? std::min(attention.keys, attention.window + attention.queries - 1)
                                : attention.keys;
  const Bytes once = elements(attention.heads * attention.queries * both, attention.dtype) +
                     elements(attention.kv_heads * keys * both, attention.dtype);
  // Backward, the gradients of all four as well.
  return once * attention.batch * (attention.backward ? 2 : 1);
}

Bytes of_embedding(const EmbeddingWork& bag) {
  const Bytes row = elements(bag.dim, bag.dtype);
  const Bytes pooled = (row + bytes(bag.index_bytes)) * bag.pooling + row;
  return pooled * bag.batch * bag.tables_per_gpu;
}

bool on_matrix_units(const OpShape& shape) {
  const auto* gemm = std::get_if<GemmShape>(&shape);
  return (gemm != nullptr && gemm->dtype != DataType::fp32) ||
         std::holds_alternative<AttentionShape>(shape);
}

}  // namespace

Bytes bytes_moved(const OpShape& shape) {
  return std::visit(
      Overloaded{[](const GemmShape& gemm) { return of_gemm(gemm); },
                 [](const AttentionShape& attention) { return of_attention(attention); },
                 [](const EmbeddingShape& bag) { return of_embedding(bag.work); },
                 [](const StreamShape& stream) { return stream.read + stream.written; },
                 [](const RecordedShape& kernel) {
                   return kernel.work ? kernel.work->read + kernel.work->written : Bytes{};
                 },
                 [](const CommunicationShape&) { return Bytes{}; }},
      shape);
}

Duration roofline_time(const OpShape& shape, const GpuSpec& gpu) {
  if (const auto* recorded = std::get_if<RecordedShape>(&shape)) return recorded->time;
  const FlopRate peak = on_matrix_units(shape) ? gpu.bf16_matrix : gpu.fp32_vector;
  return longer(compute_time(flops_of(shape), peak),
                transfer_time(bytes_moved(shape), gpu.memory.bandwidth));
}

}  // namespace weft
