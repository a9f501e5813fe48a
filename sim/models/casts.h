// Operands of products in fp8 (`workload.fp8`), which kernels of their own make.
//
// Products of fp8 read both operands along the dimension that they sum over ([P] Hopper has no
// other kernels). Training sums over each tensor's rows in one product and over its columns in
// another, so that it is cast twice: as it lies, and transposed. Kernels and what they move, for a
// tensor of n elements of b bytes, as torch.compile makes them of the plain formulas:
//
//   tensor  the largest element, unless scales are those of earlier steps (`fp8_scaling: delayed`):
//           n b read; the cast: n b read, n written for each copy
//   row     as it lies: n b read, n written; transposed, whose scales are others: the largest of
//           each column, n b read; the cast, n b read, n written. Both, of rows that are not too
//           long: after the columns' largest one kernel finds the rows' and casts, 2 n b read, 2 n
//           written, a few columns' elements at a time, which takes instructions
//   block   as it lies and transposed like row; of weights, whose scales are those of squares, as
//           by tensor
//
// Rows that are sent (gathered with sequence parallelism, to experts) are cast before. Where they
// have come, gradients of weights need them transposed: n read, n written; by row and block their
// scales are others, so the largest of each column comes first, n read. The scales that are sent
// with them are left out.
//
// Weights are cast once a step, or in each pass as it needs them if they are gathered for it; what
// only computes answers has them in fp8. What is computed again (`recompute`) is cast again.
#pragma once

#include <cstdint>
#include <string>

#include "sim/models/block_writer.h"
#include "sim/models/decoder_shapes.h"

namespace weft {

struct Cast {
  std::string name;  // of the tensor
  std::int64_t rows = 0;
  std::int64_t width = 0;  // elements of a row
  CastWay way = CastWay::as_it_lies;
  bool square = false;  // one scale for both copies
  GradientOf of = GradientOf::inputs;
  [[nodiscard]] std::int64_t elements() const { return rows * width; }
};

// Does nothing where products are in the model's type.
void cast_to_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast);
void transpose_fp8(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, const Cast& cast);

}  // namespace weft
