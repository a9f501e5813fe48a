#include "gemm_kernels.h"
#include "launching.h"

namespace weft_fused {
namespace {

using calibration::bf16_bits;
using calibration::Flag;
using calibration::narrow_tile_n;
using calibration::tile_m;
using calibration::wide_tile_n;

constexpr WgSize tile_wg{calibration::tile_threads, calibration::tile_shared_bytes};
constexpr calibration::Order gemm_order = calibration::Order::in_turn;

calibration::Product product_of(const GemmShape& shape, const void* a, const void* b) {
  return calibration::product_of(static_cast<const bf16_bits*>(a), static_cast<const bf16_bits*>(b),
                                 shape.m, shape.n, shape.k);
}

int tiles_of(const GemmShape& shape, int tile_n) { return shape.m / tile_m * (shape.n / tile_n); }

// By rounds of tiles, one of an SM or CU at a time: a narrow tile takes two thirds of the time of
// one of twice its width.
bool takes_wide_tiles(const Ranks& ranks, const GemmShape& shape) {
  const int units = units_of(ranks);
  const auto rounds = [&](int tile_n) { return (tiles_of(shape, tile_n) + units - 1) / units; };
  return shape.n % wide_tile_n == 0 && 3 * rounds(wide_tile_n) <= 2 * rounds(narrow_tile_n);
}

// A kernel of both widths of tiles: the one that suits the shape, with as many WGs as are resident
// or have tiles.
template <class Kernel>
struct OfShape {
  Kernel kernel;
  int tiles;
  int wgs;
};

template <class Kernel>
OfShape<Kernel> of_shape(const Ranks& ranks, const GemmShape& shape, Kernel narrow, Kernel wide) {
  const bool wider = takes_wide_tiles(ranks, shape);
  const Kernel kernel = wider ? wide : narrow;
  const int tiles = tiles_of(shape, wider ? wide_tile_n : narrow_tile_n);
  return {kernel, tiles, std::min(resident_wgs(ranks, kernel, tile_wg), tiles)};
}

// Behind the counters of arrivals.
calibration::SendingTurns turns_of(const Ranks& ranks) { return {ranks.counters + ranks.size()}; }

}  // namespace

void gemm_all_to_all(const Ranks& ranks, const GemmShape& shape, const void* a, const void* b) {
  const auto of = of_shape(ranks, shape, calibration::multiply_and_send<narrow_tile_n>,
                           calibration::multiply_and_send<wide_tile_n>);
  const calibration::TileSending sending{order_of(ranks, of.tiles / ranks.size(), gemm_order),
                                         pointers<bf16_bits>(ranks.data),
                                         pointers<Flag>(ranks.flags),
                                         ranks.counters,
                                         turns_of(ranks),
                                         ranks.run};
  launch(ranks, of.kernel, of.wgs, tile_wg, product_of(shape, a, b), sending);
}

void gemm_reduce_scatter(const Ranks& ranks, const GemmShape& shape, const void* a, const void* b,
                         void* sums) {
  const auto of = of_shape(ranks, shape, calibration::multiply_and_reduce<narrow_tile_n>,
                           calibration::multiply_and_reduce<wide_tile_n>);
  const calibration::TileReducing reducing{order_of(ranks, of.tiles / ranks.size(), gemm_order),
                                           pointers<bf16_bits>(ranks.data),
                                           pointers<Flag>(ranks.flags),
                                           static_cast<bf16_bits*>(sums),
                                           turns_of(ranks),
                                           ranks.run};
  launch(ranks, of.kernel, of.wgs, tile_wg, product_of(shape, a, b), reducing);
}

void all_gather_gemm(const Ranks& ranks, const GemmShape& shape, int senders, const void* shard,
                     const void* b, void* c) {
  const int rows = shape.m / ranks.size();
  const auto data = pointers<bf16_bits>(ranks.data);
  const calibration::Product product = product_of({rows, shape.n, shape.k}, shard, b);
  const auto of = of_shape(ranks, shape, calibration::gather_and_multiply<narrow_tile_n>,
                           calibration::gather_and_multiply<wide_tile_n>);
  const calibration::Gathering gathering{
      .gpus = ranks.size(),
      .me = ranks.me,
      .rows = rows,
      .senders = std::min(senders, of.wgs),
      .rows_at_once = calibration::gather_rows_of(rows, shape.k),
      .shard = product.a,
      .rows_of_all = calibration::matrix_of(data.at[ranks.me], shape.m, shape.k),
      .gathered = data,
      .flags = pointers<Flag>(ranks.flags),
      .counters = ranks.counters + 2,
      .queue = ranks.counters,
      .c = static_cast<bf16_bits*>(c),
      .run = ranks.run};
  launch(ranks, of.kernel, of.wgs, tile_wg, product, gathering);
}

}  // namespace weft_fused
