#include "gemm_kernels.h"
#include "launching.h"

namespace weft_fused {
namespace {

using calibration::bf16_bits;
using calibration::Flag;
using calibration::tile_m;
using calibration::tile_n;
using calibration::tile_shared_bytes;

calibration::Product product_of(const GemmShape& shape, const void* a, const void* b) {
  return {static_cast<const bf16_bits*>(a), static_cast<const bf16_bits*>(b), shape.n, shape.k};
}

int tiles_of(const GemmShape& shape) { return shape.m / tile_m * (shape.n / tile_n); }

template <class Kernel>
int wgs_of(const Ranks& ranks, Kernel kernel, int tiles) {
  return std::min(resident_wgs(ranks, kernel, tile_shared_bytes), tiles);
}

}  // namespace

void gemm_all_to_all(const Ranks& ranks, const GemmShape& shape, const void* a, const void* b) {
  const int tiles = tiles_of(shape);
  const calibration::TileSending sending{order_of(ranks, tiles / ranks.size()),
                                         pointers<bf16_bits>(ranks.data),
                                         pointers<Flag>(ranks.flags), ranks.counters, ranks.run};
  const auto kernel = calibration::multiply_and_send;
  launch(ranks, kernel, wgs_of(ranks, kernel, tiles), tile_shared_bytes, product_of(shape, a, b),
         sending);
}

void gemm_reduce_scatter(const Ranks& ranks, const GemmShape& shape, const void* a, const void* b,
                         void* sums) {
  const int tiles = tiles_of(shape);
  const calibration::TileReducing reducing{
      order_of(ranks, tiles / ranks.size()), pointers<bf16_bits>(ranks.data),
      pointers<Flag>(ranks.flags), static_cast<bf16_bits*>(sums), ranks.run};
  const auto kernel = calibration::multiply_and_reduce;
  launch(ranks, kernel, wgs_of(ranks, kernel, tiles), tile_shared_bytes, product_of(shape, a, b),
         reducing);
}

void all_gather_gemm(const Ranks& ranks, const GemmShape& shape, int senders, const void* shard,
                     const void* b, void* c) {
  const int rows = shape.m / ranks.size();
  const auto kernel = calibration::gather_and_multiply;
  const int wgs = wgs_of(ranks, kernel, tiles_of(shape));
  const calibration::Gathering gathering{.gpus = ranks.size(),
                                         .me = ranks.me,
                                         .rows = rows,
                                         .senders = std::min(senders, wgs),
                                         .shard = static_cast<const bf16_bits*>(shard),
                                         .gathered = pointers<bf16_bits>(ranks.data),
                                         .flags = pointers<Flag>(ranks.flags),
                                         .counters = ranks.counters + 2,
                                         .queue = ranks.counters,
                                         .c = static_cast<bf16_bits*>(c),
                                         .run = ranks.run};
  launch(ranks, kernel, wgs, tile_shared_bytes, product_of(shape, shard, b), gathering);
}

}  // namespace weft_fused
