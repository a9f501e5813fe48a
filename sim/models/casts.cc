#include "sim/models/casts.h"

#include <vector>

namespace weft {
namespace {

constexpr const char* kCasts = "cast";

// A kernel that reads a tensor, and writes copies in fp8.
struct Pass {
  const char* suffix;  // of its name
  int copies = 0;
  int reads = 1;
  std::int64_t instructions = 0;  // of a thread per element, if they may take longer
};

// [M] kernels of 15 matrices on an H100 (calibration/measurements/h100-pytorch-casts.jsonl): rows
// of 2,048 to 8,192 elements have one kernel, those of 14,336 two. It takes 186 to 422 x 10^9
// elements a second; this is the middle of one half of them.
constexpr std::int64_t kMostOfOneKernel = 8192;
constexpr std::int64_t kBothInstructions = 130;

bool casts_both_at_once(const DecoderShapes& shapes, const Cast& cast) {
  return shapes.fp8 == Fp8Scales::row && cast.way == CastWay::both &&
         cast.width <= kMostOfOneKernel;
}

// What finds largest elements has to read all of a tensor, or all rows of a column, before
// anything can be cast; a row, or 128 elements of it, stay with their WG.
std::vector<Pass> passes(const DecoderShapes& shapes, const Cast& cast) {
  const bool both = cast.way == CastWay::both;
  if (shapes.scales_are_known) return {{"_cast", both ? 2 : 1}};
  if (shapes.fp8 == Fp8Scales::tensor || cast.square) {
    return {{"_largest", 0}, {"_cast", both ? 2 : 1}};
  }
  if (casts_both_at_once(shapes, cast)) {
    return {{"_largest_down", 0},
            {.suffix = "_cast", .copies = 2, .reads = 2, .instructions = kBothInstructions}};
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
  const std::int64_t elements = cast.elements();
  for (const Pass& pass : passes(shapes, cast)) {
    out.compute(cast.name + pass.suffix, kCasts,
                StreamShape{.read = shapes.size(elements) * pass.reads,
                            .written = bytes(elements) * pass.copies,
                            .flops = flops(elements),
                            .instructions = elements * pass.instructions},
                place, cast.of);
  }
}

void transpose_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast) {
  if (!shapes.in_fp8()) return;
  const Bytes size = bytes(cast.elements());
  if (shapes.fp8 != Fp8Scales::tensor) {
    out.compute(cast.name + "_largest_down", kCasts,
                StreamShape{.read = size, .written = {}, .flops = flops(cast.elements())}, place,
                cast.of);
  }
  out.compute(cast.name + "_transpose", kCasts,
              StreamShape{.read = size, .written = size, .flops = {}}, place, cast.of);
}

}  // namespace weft
