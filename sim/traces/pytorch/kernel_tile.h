// Tiles that libraries write into the names of their GEMMs' kernels.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/models/recorded_shape.h"

namespace weft {

// The tile that a GEMM's kernel has in its name, and the split of k that its WGs then have.
// Libraries have C in columns: the first number of a tile lies along the columns of PyTorch's C.
void add_tile(std::string_view kernel, std::int64_t wgs, RecordedGemm& gemm);

}  // namespace weft
