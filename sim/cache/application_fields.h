// The keys of an application: arrays, and kernels that access them (sim/spec/fields.h).
#pragma once

#include "sim/cache/accesses.h"
#include "sim/spec/fields.h"

namespace weft::cache {

void fields(Fields& map, Application& application);

}  // namespace weft::cache
