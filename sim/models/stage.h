// The GPUs of a pipeline's stage, as the groups that its operators run in, and the part of the
// model that one of its virtual stages has.
//
// GPUs number node by node. Those of a tensor-parallel group are neighbours, those of a stage
// follow one another, and stages come last: GPU = (stage x data + d) x tensor + t. Experts are
// shared by neighbours too: as many of a stage's GPUs in a row, whatever their tensor rank.
#pragma once

#include "sim/models/model_graph.h"
#include "sim/scenario/decoder_size.h"

namespace weft {

struct Stage {
  PipelinePlace at;
  int part = 0;        // of the model
  bool first = false;  // of its parts
  bool last = false;
  StageLayers layers;
  PlaceId tensor;       // of each layer's parts
  PlaceId experts;      // that share the experts
  PlaceId data;         // with the same weights
  PlaceId expert_data;  // with the same experts
  PlaceId ahead;        // pairs with the stage that has the next part; none where it is the same
  PlaceId back;         // with the one that has the part before
};

Stage stage_of(ModelGraph& graph, const TransformerSpec& spec, const PipelineShape& pipeline,
               const PipelinePlace& at);

// GPUs of the first and the last stage that have the same slice of the vocabulary.
PlaceId ends_of_pipeline(ModelGraph& graph, const ParallelSpec& parallel);

}  // namespace weft
