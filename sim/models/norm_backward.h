// The backward pass of a norm over the elements of a row (RMS norm), as PyTorch's compiler writes
// it (2.11; kernels and grids of 41 profiles on an H100, docs/model.md, "Norms").
//
// Two sums go in different directions: along rows for the gradient of the inputs, down columns for
// that of the weights. Many and short rows are read once for both: each WG has 16 of them and
// leaves sums of its own, which a last kernel adds up. Else each sum has its kernel.
#pragma once

#include "sim/models/streams.h"

namespace weft {

struct NormBackward {
  StreamShape inputs;
  StreamShape weights;   // after `inputs` if these have found parts of it, else by itself
  bool at_once = false;  // they have
};

// `read`: tensors that the gradient of the inputs needs, 2, and what is added to it.
NormBackward norm_backward_of(std::int64_t rows, std::int64_t width, std::int64_t read,
                              DataType type);

}  // namespace weft
