// The keys of a GPU (sim/spec/fields.h).
#pragma once

#include "sim/gpu_model/gpu_spec.h"
#include "sim/spec/fields.h"

namespace weft {

constexpr Range<int> kRegistersPerThread{1, 4'096};

void fields(Fields& map, GpuSpec& gpu);
void fields(Fields& map, CollectiveSpec& collective);

}  // namespace weft
