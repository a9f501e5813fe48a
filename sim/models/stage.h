// The GPUs of a pipeline's stage, as the groups that its operators run in.
//
// GPUs number node by node. Those of a tensor-parallel group are neighbours, those of a stage
// follow one another, and stages come last: GPU = (stage x data + d) x tensor + t. Experts are
// shared by neighbours too: as many of a stage's GPUs in a row, whatever their tensor rank.
#pragma once

#include "sim/models/model_graph.h"
#include "sim/scenario/decoder_size.h"

namespace weft {

struct Stage {
  int index = 0;
  bool first = false;
  bool last = false;
  StageLayers layers;
  PlaceId tensor;       // of each layer's parts
  PlaceId experts;      // that share the experts
  PlaceId data;         // with the same weights
  PlaceId expert_data;  // with the same experts
  PlaceId ahead;        // pairs with the next stage; of the last stage nothing
  PlaceId back;         // with the one before; of the first stage nothing
};

Stage stage_of(ModelGraph& graph, const TransformerSpec& spec, int index);

// GPUs of the first and the last stage that have the same part of the vocabulary.
PlaceId ends_of_pipeline(ModelGraph& graph, const ParallelSpec& parallel);

}  // namespace weft
