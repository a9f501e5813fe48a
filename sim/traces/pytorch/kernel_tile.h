// Tiles from the names that libraries give their GEMM kernels.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/models/recorded_shape.h"

namespace weft {

// Adds the tile that a GEMM's kernel has in its name, and the split of k that follows from its WGs.
// Libraries store C by columns: the first number of a tile counts columns of PyTorch's C.
void add_tile(std::string_view kernel, std::int64_t wgs, RecordedGemm& gemm);

}  // namespace weft
