#pragma once

#include <cstdint>
#include <vector>

// The harness's fused kernels, launched on one GPU for its peers' pointers. No header of PyTorch
// and none of HIP or CUDA: the sources behind it are compiled by nvcc or hipcc, without PyTorch,
// and operators.cpp by the host's compiler.

namespace weft_fused {

// This GPU among its peers, in one run of one operator.
struct Ranks {
  int me = 0;
  unsigned run = 0;                  // flags of this run hold it; it grows from call to call
  int device = 0;                    // of the runtime
  std::intptr_t stream = 0;          // on which the kernel is queued
  std::vector<std::intptr_t> data;   // of each rank: what peers store results or inputs into
  std::vector<std::intptr_t> flags;  // of each rank; as many as the operator says
  unsigned* counters = nullptr;      // of this GPU alone, zero between runs

  int size() const { return static_cast<int>(data.size()); }
};

struct EmbeddingShape {
  int tables;
  int rows_per_table;
  int dim;
  int pooled_rows;  // of this GPU's tables: samples of all ranks, times tables
  int pooling;
  int rows_per_wg;
};

struct GemmShape {
  int m;  // rows of C that this GPU computes
  int n;
  int k;
};

// Data: what a rank gets, [source][sample of mine][table][dim]. Flags, counters: one per rank.
void embedding_all_to_all(const Ranks& ranks, const EmbeddingShape& shape, const float* tables,
                          const std::int32_t* indices);
// The kernel alone, into `pooled`: what bulk computes before its collective.
void pooled_embedding(const Ranks& ranks, const EmbeddingShape& shape, const float* tables,
                      const std::int32_t* indices, float* pooled);

// Data: parts [source][row of mine], float32. `results` of each rank: y [row], float32. Flags: for
// a slice of `rows_per_wg` rows two, parts first.
void gemv_all_reduce(const Ranks& ranks, const std::vector<std::intptr_t>& results, int m, int k,
                     int rows_per_wg, const void* w, const void* x);

// Data: what a rank gets, [source][row of mine][n]. Flags: one per rank; counters: two more.
void gemm_all_to_all(const Ranks& ranks, const GemmShape& shape, const void* a, const void* b);

// Data: parts [source][row of mine][n]. Flags: one for a tile of 128 x 128 of C; counters: the last
// two of as many as ranks and two more.
void gemm_reduce_scatter(const Ranks& ranks, const GemmShape& shape, const void* a, const void* b,
                         void* sums);

// Data: A of all, [source][row][k]. Flags, counters: one for 128 rows of A; counters: two more.
void all_gather_gemm(const Ranks& ranks, const GemmShape& shape, int senders, const void* shard,
                     const void* b, void* c);

}  // namespace weft_fused
