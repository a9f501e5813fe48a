// A graph from text, for tests that have no file.
#pragma once

#include <string_view>

#include "sim/traces/load_trace.h"

namespace weft {

LoadedTrace load_graph_text(std::string_view text, int gpus);

}  // namespace weft
