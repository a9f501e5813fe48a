// A recorded step of data-parallel replicas, on another number of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

struct ReplicatedGraph {
  std::optional<ModelGraph> graph;    // absent: the problems say why
  std::vector<std::string> problems;  // each says what is missing
  std::size_t grown = 0;              // collectives across replicas
};

// `graph` is of `recorded` replicas, each on as many GPUs that follow one another. Of `copies`, the
// c-th does what replica c modulo `recorded` did. Collectives across all recorded replicas become
// ones across all copies, with buffers as recorded: what is summed, gathered or scattered are the
// same weights or gradients. The replicas must do the same.
ReplicatedGraph replicate(const ModelGraph& graph, std::uint32_t gpus, std::uint32_t recorded,
                          std::uint32_t copies);

}  // namespace weft
