// A ModelGraph as text that people and scripts read: YAML, with one operator per line, or JSON.
//
//   gpus: 8
//   places:
//     - [[0,1,2,3,4,5,6,7]]
//   ops:
//     - {"id": 0, "name": "grads", "part": "all_reduce", "place": 0, "stream": 1, "after": [],
//        "all_reduce": {"buffer_bytes": 1048576}}
#pragma once

#include <cstdint>
#include <string>

#include "sim/models/model_graph.h"

namespace weft {

enum class GraphText : std::uint8_t { yaml, json };

// Places are lists of groups of GPUs. Times are in microseconds.
std::string import_text(const ModelGraph& graph, int gpus, GraphText form);

}  // namespace weft
