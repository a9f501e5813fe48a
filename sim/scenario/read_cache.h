// Readers of the maps of the cache model's files.
#pragma once

#include "sim/cache/accesses.h"
#include "sim/cache/spec.h"
#include "sim/scenario/reader.h"

namespace weft {

cache::Hierarchy read_cache_machine(MapReader map);
cache::Application read_cache_application(MapReader map);

}  // namespace weft
