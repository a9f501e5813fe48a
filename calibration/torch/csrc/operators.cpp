// The launches as operators of PyTorch, `weft_kernels`: they take pointers and say what they write.
// The operators for users are above them, in Python (src/weft_fused/operators.py). No header of
// CUDA or ROCm: the stream comes as a number, so that one source serves both.

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <cstdint>

#include "launch.h"

namespace {

using Pointers = c10::ArrayRef<std::int64_t>;

weft_fused::Ranks ranks_of(std::int64_t me, std::int64_t run, std::int64_t stream, Pointers data,
                           Pointers flags, const at::Tensor& counters) {
  weft_fused::Ranks ranks;
  ranks.me = static_cast<int>(me);
  ranks.run = static_cast<unsigned>(run);
  ranks.device = counters.get_device();
  ranks.stream = static_cast<std::intptr_t>(stream);
  ranks.data.assign(data.begin(), data.end());
  ranks.flags.assign(flags.begin(), flags.end());
  ranks.counters = static_cast<unsigned*>(counters.data_ptr());
  return ranks;
}

int size_of(const at::Tensor& tensor, std::int64_t dimension) {
  return static_cast<int>(tensor.size(dimension));
}

// tables: [table][row][dim]; indices: [sample][table][pooling].
weft_fused::EmbeddingShape embedding_shape(const at::Tensor& tables, const at::Tensor& indices,
                                           std::int64_t rows_per_wg) {
  return {size_of(tables, 0),  size_of(tables, 1),
          size_of(tables, 2),  size_of(indices, 0) * size_of(indices, 1),
          size_of(indices, 2), static_cast<int>(rows_per_wg)};
}

void embedding_all_to_all(const at::Tensor& tables, const at::Tensor& indices, Pointers data,
                          Pointers flags, const at::Tensor& counters, std::int64_t me,
                          std::int64_t run, std::int64_t rows_per_wg, std::int64_t stream) {
  weft_fused::embedding_all_to_all(ranks_of(me, run, stream, data, flags, counters),
                                   embedding_shape(tables, indices, rows_per_wg),
                                   static_cast<const float*>(tables.data_ptr()),
                                   static_cast<const std::int32_t*>(indices.data_ptr()));
}

void pooled_embedding(const at::Tensor& tables, const at::Tensor& indices, const at::Tensor& pooled,
                      std::int64_t rows_per_wg, std::int64_t stream) {
  weft_fused::Ranks ranks;
  ranks.device = tables.get_device();
  ranks.stream = static_cast<std::intptr_t>(stream);
  weft_fused::pooled_embedding(ranks, embedding_shape(tables, indices, rows_per_wg),
                               static_cast<const float*>(tables.data_ptr()),
                               static_cast<const std::int32_t*>(indices.data_ptr()),
                               static_cast<float*>(pooled.data_ptr()));
}

void gemv_all_reduce(const at::Tensor& w, const at::Tensor& x, Pointers results, Pointers data,
                     Pointers flags, const at::Tensor& counters, std::int64_t me, std::int64_t run,
                     std::int64_t rows_per_wg, std::int64_t stream) {
  weft_fused::gemv_all_reduce(ranks_of(me, run, stream, data, flags, counters),
                              {results.begin(), results.end()}, size_of(w, 0), size_of(w, 1),
                              static_cast<int>(rows_per_wg), w.data_ptr(), x.data_ptr());
}

void gemm_all_to_all(const at::Tensor& a, const at::Tensor& b, Pointers data, Pointers flags,
                     const at::Tensor& counters, std::int64_t me, std::int64_t run,
                     std::int64_t stream) {
  weft_fused::gemm_all_to_all(ranks_of(me, run, stream, data, flags, counters),
                              {size_of(a, 0), size_of(b, 0), size_of(a, 1)}, a.data_ptr(),
                              b.data_ptr());
}

void gemm_reduce_scatter(const at::Tensor& a, const at::Tensor& b, const at::Tensor& sums,
                         Pointers data, Pointers flags, const at::Tensor& counters, std::int64_t me,
                         std::int64_t run, std::int64_t stream) {
  weft_fused::gemm_reduce_scatter(ranks_of(me, run, stream, data, flags, counters),
                                  {size_of(a, 0), size_of(b, 0), size_of(a, 1)}, a.data_ptr(),
                                  b.data_ptr(), sums.data_ptr());
}

void all_gather_gemm(const at::Tensor& shard, const at::Tensor& b, const at::Tensor& c,
                     Pointers data, Pointers flags, const at::Tensor& counters, std::int64_t me,
                     std::int64_t run, std::int64_t senders, std::int64_t stream) {
  weft_fused::all_gather_gemm(ranks_of(me, run, stream, data, flags, counters),
                              {size_of(c, 0), size_of(b, 0), size_of(shard, 1)},
                              static_cast<int>(senders), shard.data_ptr(), b.data_ptr(),
                              c.data_ptr());
}

}  // namespace

// What peers write is known to the caller alone, by its pointers; `counters` are written by each.
TORCH_LIBRARY(weft_kernels, library) {
  library.def(
      "embedding_all_to_all(Tensor tables, Tensor indices, int[] data, int[] flags, "
      "Tensor(a!) counters, int me, int run, int rows_per_wg, int stream) -> ()");
  library.def(
      "pooled_embedding(Tensor tables, Tensor indices, Tensor(a!) pooled, int rows_per_wg, "
      "int stream) -> ()");
  library.def(
      "gemv_all_reduce(Tensor w, Tensor x, int[] results, int[] data, int[] flags, "
      "Tensor(a!) counters, int me, int run, int rows_per_wg, int stream) -> ()");
  library.def(
      "gemm_all_to_all(Tensor a, Tensor b, int[] data, int[] flags, Tensor(a!) counters, int me, "
      "int run, int stream) -> ()");
  library.def(
      "gemm_reduce_scatter(Tensor a, Tensor b, Tensor(a!) sums, int[] data, int[] flags, "
      "Tensor(b!) counters, int me, int run, int stream) -> ()");
  library.def(
      "all_gather_gemm(Tensor shard, Tensor b, Tensor(a!) c, int[] data, int[] flags, "
      "Tensor(b!) counters, int me, int run, int senders, int stream) -> ()");
}

TORCH_LIBRARY_IMPL(weft_kernels, CUDA, library) {
  library.impl("embedding_all_to_all", embedding_all_to_all);
  library.impl("pooled_embedding", pooled_embedding);
  library.impl("gemv_all_reduce", gemv_all_reduce);
  library.impl("gemm_all_to_all", gemm_all_to_all);
  library.impl("gemm_reduce_scatter", gemm_reduce_scatter);
  library.impl("all_gather_gemm", all_gather_gemm);
}
