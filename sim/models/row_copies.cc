#include "sim/models/row_copies.h"

#include "sim/core/round_up.h"

namespace weft {
namespace {

// Of a thread, for each element of a row: [M] 405 x 10^9 elements a second where each of 4 to 8
// rows is added to the same source (indexing_backward_kernel), 265 x 10^9 where atomics do it, both
// whatever the number of rows.
constexpr std::int64_t kSortedInstructions = 83;
constexpr std::int64_t kAtomicInstructions = 126;
// [M] 206 x 10^9 elements a second, in the profile of a step with 16,384 rows of 4,096.
constexpr std::int64_t kPlacedInstructions = 162;

// Sorting (CUB): up to one tile of indices by one WG, else by passes of eight bits over all. [M]
// Kernels around it, and the size of tiles from the numbers of WGs.
constexpr std::int64_t kOneTile = 2304;
constexpr std::int64_t kTile = 4608;
constexpr int kSmallKernels = 5;  // that keep few bytes busy: their launches count
constexpr int kSmallKernelsOfPasses = 6;
constexpr int kBitsOfPass = 8;
constexpr std::int64_t kIndex = 8;  // bytes, and as many for the place that it came from

void small_kernel(BlockWriter& out, const RowMove& move) {
  const Bytes indices = bytes(move.rows * kIndex);
  out.compute(move.name + "_sort", move.part,
              StreamShape{.read = indices, .written = indices, .flops = {}}, move.place);
}

// Loads of a WG's tile, eight bytes a thread, wait for one another but for a few.
void pass(BlockWriter& out, const RowMove& move) {
  const Bytes pairs = bytes(move.rows * 2 * kIndex);
  StreamShape shape{.read = pairs, .written = pairs, .flops = {}};
  shape.load = bytes(kIndex);
  shape.most_wgs = round_up(move.rows, kTile);
  out.compute(move.name + "_sort", move.part, shape, move.place);
}

void sort(BlockWriter& out, const RowMove& move) {
  const bool passes = move.rows > kOneTile;
  for (int i = 0; i < (passes ? kSmallKernelsOfPasses : kSmallKernels); ++i) {
    small_kernel(out, move);
  }
  if (!passes) return;
  for (std::int64_t left = move.sources - 1; left > 0; left >>= kBitsOfPass) pass(out, move);
}

void zeros(BlockWriter& out, const RowMove& move) {
  out.compute(move.name + "_zeros", move.part,
              StreamShape{.read = {}, .written = move.source_size * move.sources, .flops = {}},
              move.place);
}

void add(BlockWriter& out, const RowMove& move, std::int64_t instructions) {
  const Bytes sums = move.source_size * move.sources;
  const std::int64_t elements = move.rows * move.width;
  out.compute(move.name, move.part,
              StreamShape{.read = move.row_size * move.rows + sums,
                          .written = sums,
                          .flops = flops(elements),
                          .instructions = elements * instructions},
              move.place);
}

}  // namespace

void take_rows(BlockWriter& out, const RowMove& move) {
  StreamShape shape{
      .read = move.source_size * move.sources, .written = move.row_size * move.rows, .flops = {}};
  shape.reorders = shape.read == shape.written && move.sources == move.rows;
  out.compute(move.name, move.part, shape, move.place);
}

void place_rows(BlockWriter& out, const RowMove& move) {
  StreamShape shape{.read = move.row_size * move.rows,
                    .written = move.source_size * move.rows,
                    .flops = {},
                    .instructions = move.rows * move.width * kPlacedInstructions};
  shape.reorders = true;
  out.compute(move.name, move.part, shape, move.place);
}

void add_rows_sorted(BlockWriter& out, const RowMove& move) {
  zeros(out, move);
  sort(out, move);
  add(out, move, kSortedInstructions);
}

void scatter_add_rows(BlockWriter& out, const RowMove& move) {
  zeros(out, move);
  add(out, move, kAtomicInstructions);
}

}  // namespace weft
