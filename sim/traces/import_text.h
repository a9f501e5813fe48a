// A ModelGraph as text that people and scripts read and write (graph/graph_file.h): YAML, with one
// operator per line, or JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/models/model_graph.h"
#include "sim/models/recorded_step.h"

namespace weft {

enum class GraphText : std::uint8_t { yaml, json };
GraphText form_of(const std::filesystem::path& file);  // JSON if it ends in .json

// Only of graphs that obstacle_to_writing() says nothing of. weft reads it back as kind: graph.
std::string import_text(const ModelGraph& graph, int gpus, GraphText form,
                        const RecordedRun& recording = {});

}  // namespace weft
