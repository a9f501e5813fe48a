// Readers of the maps of the cache model's files.
#pragma once

#include "sim/cache/accesses.h"
#include "sim/spec/reader.h"

namespace weft {

cache::Application read_cache_application(MapReader map);

}  // namespace weft
