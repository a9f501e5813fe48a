// The keys of a machine's caches and DRAM (sim/spec/fields.h).
#pragma once

#include "sim/cache/spec.h"
#include "sim/spec/fields.h"

namespace weft::cache {

void fields(Fields& map, Hierarchy& machine);

}  // namespace weft::cache
