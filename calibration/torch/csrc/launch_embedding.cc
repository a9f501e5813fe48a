#include "embedding_kernels.h"
#include "launching.h"

namespace weft_fused {
namespace {

calibration::Lookup lookup_of(const EmbeddingShape& shape, const float* tables,
                              const std::int32_t* indices) {
  return {.table_rows = reinterpret_cast<const float4*>(tables),
          .indices = reinterpret_cast<const std::uint32_t*>(indices),
          .tables = static_cast<unsigned>(shape.tables),
          .lanes = static_cast<unsigned>(shape.dim / 4),
          .pooling = static_cast<unsigned>(shape.pooling),
          .rows_per_table = static_cast<unsigned>(shape.rows_per_table),
          .rows_per_wg = static_cast<unsigned>(shape.rows_per_wg)};
}

}  // namespace

void embedding_all_to_all(const Ranks& ranks, const EmbeddingShape& shape, const float* tables,
                          const std::int32_t* indices) {
  const int slices = shape.pooled_rows / shape.rows_per_wg;
  const calibration::PooledSending sending{.order = order_of(ranks, slices / ranks.size()),
                                           .flags_per_destination = 1,
                                           .out = pointers<float4>(ranks.data),
                                           .flags = pointers<calibration::Flag>(ranks.flags),
                                           .counters = ranks.counters,
                                           .run = ranks.run};
  const int wgs = std::min(resident_wgs(ranks, calibration::pool_and_send, {}), slices);
  launch(ranks, calibration::pool_and_send, wgs, WgSize{}, lookup_of(shape, tables, indices),
         sending);
}

void pooled_embedding(const Ranks& ranks, const EmbeddingShape& shape, const float* tables,
                      const std::int32_t* indices, float* pooled) {
  calibration::check(hipSetDevice(ranks.device));
  launch(ranks, calibration::pool, shape.pooled_rows / shape.rows_per_wg, WgSize{},
         lookup_of(shape, tables, indices), reinterpret_cast<float4*>(pooled));
}

}  // namespace weft_fused
