#include "sim/models/attention_gradients.h"

#include "sim/models/streams.h"
#include "sim/scenario/data_type.h"

namespace weft {
namespace {

// A tensor of all tokens: `sequence` per sequence, `heads` heads of `dim` elements each.
Bytes tensor(const AttentionShape& shape, std::int64_t sequence, std::int64_t heads,
             std::int64_t dim, DataType type) {
  return bytes_of(shape.batch * sequence * heads * dim, type);
}

}  // namespace

StreamShape attention_row_sums(const AttentionShape& shape) {
  const Bytes results =
      tensor(shape, shape.queries, shape.heads, shape.value_head_dim, shape.dtype);
  return {.read = results * 2,
          .written = tensor(shape, shape.queries, shape.heads, shape.head_dim, DataType::fp32),
          .flops = flops(2 * shape.batch * shape.queries * shape.heads) * shape.value_head_dim};
}

StreamShape attention_query_gradients(const AttentionShape& shape) {
  return {.read = tensor(shape, shape.queries, shape.heads, shape.head_dim, DataType::fp32),
          .written = tensor(shape, shape.queries, shape.heads, shape.head_dim, shape.dtype),
          .flops = {}};
}

bool shares_keys(const AttentionShape& shape) { return shape.heads > shape.kv_heads; }

StreamShape attention_shared_gradients(const AttentionShape& shape, std::int64_t dim) {
  return {.read = tensor(shape, shape.keys, shape.heads, dim, shape.dtype),
          .written = tensor(shape, shape.keys, shape.kv_heads, dim, shape.dtype),
          .flops = flops(shape.batch * shape.keys * shape.heads * dim)};
}

}  // namespace weft
