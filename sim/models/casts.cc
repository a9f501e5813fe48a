#include "sim/models/casts.h"

#include <vector>

namespace weft {
namespace {

constexpr const char* kCasts = "cast";

// A kernel that reads a tensor, and writes copies in fp8.
struct Pass {
  const char* suffix;  // of its name
  int copies = 0;
};

// What finds largest elements has to read all of a tensor, or all rows of a column, before
// anything can be cast; a row, or 128 elements of it, stay with their WG.
std::vector<Pass> passes(const DecoderShapes& shapes, const Cast& cast) {
  const bool both = cast.way == CastWay::both;
  if (shapes.fp8 == Fp8Scales::tensor || cast.square) {
    return {{"_largest", 0}, {"_cast", both ? 2 : 1}};
  }
  std::vector<Pass> all;
  if (both || cast.way == CastWay::as_it_lies) all.push_back({"_cast", 1});
  if (both || cast.way == CastWay::transposed) {
    all.push_back({"_largest_down", 0});
    all.push_back({"_cast_transposed", 1});
  }
  return all;
}

}  // namespace

void cast_to_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast) {
  if (!shapes.in_fp8() || cast.way == CastWay::none) return;
  for (const Pass& pass : passes(shapes, cast)) {
    out.compute(cast.name + pass.suffix, kCasts,
                StreamShape{.read = shapes.size(cast.elements),
                            .written = bytes(cast.elements) * pass.copies,
                            .flops = flops(cast.elements)},
                place, cast.of);
  }
}

void transpose_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast) {
  if (!shapes.in_fp8()) return;
  const Bytes size = bytes(cast.elements);
  if (shapes.fp8 != Fp8Scales::tensor) {
    out.compute(cast.name + "_largest_down", kCasts,
                StreamShape{.read = size, .written = {}, .flops = flops(cast.elements)}, place,
                cast.of);
  }
  out.compute(cast.name + "_transpose", kCasts,
              StreamShape{.read = size, .written = size, .flops = {}}, place, cast.of);
}

}  // namespace weft
