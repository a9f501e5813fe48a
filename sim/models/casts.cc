#include "sim/models/casts.h"

#include <vector>

#include "sim/core/round_up.h"

namespace weft {
namespace {

constexpr const char* kCasts = "cast";
constexpr Bytes kScale = bytes(4);
constexpr std::int64_t kOfAScale = 128;

// A kernel that reads a tensor, and writes copies in fp8.
struct Pass {
  const char* ends;  // of its name
  int copies = 0;
};

// What finds largest elements has to read all of a tensor, or all rows of a column, before
// anything can be cast; a row, or 128 elements of it, stay with their WG.
std::vector<Pass> passes(const DecoderShapes& shapes, const Cast& cast) {
  if (shapes.fp8 == Fp8Scales::tensor || cast.square) {
    return {{"_largest", 0}, {"_cast", cast.copies}};
  }
  std::vector<Pass> all{{"_cast", 1}};
  if (cast.copies > 1) {
    all.push_back({"_largest_down", 0});
    all.push_back({"_cast_transposed", 1});
  }
  return all;
}

}  // namespace

void cast_to_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast) {
  if (!shapes.in_fp8() || cast.copies == 0) return;
  for (const Pass& pass : passes(shapes, cast)) {
    out.compute(cast.name + pass.ends, kCasts,
                StreamShape{.read = shapes.size(cast.elements),
                            .written = bytes(cast.elements) * pass.copies,
                            .flops = flops(cast.elements)},
                place, cast.of);
  }
}

void transpose_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast) {
  if (!shapes.in_fp8()) return;
  const Bytes size = bytes(cast.elements);
  out.compute(cast.name + "_transpose", kCasts,
              StreamShape{.read = size, .written = size, .flops = {}}, place, cast.of);
}

Bytes fp8_rows(const DecoderShapes& shapes, std::int64_t rows, std::int64_t width) {
  const Bytes row = bytes(width);
  if (shapes.fp8 == Fp8Scales::tensor) return row * rows;
  const bool by_block = shapes.fp8 == Fp8Scales::block;
  return (row + kScale * (by_block ? round_up(width, kOfAScale) : 1)) * rows;
}

}  // namespace weft
