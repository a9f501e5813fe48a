// The GPUs of a pipeline's stage, as the groups that its operators run in, and the part of the
// model that one of its virtual stages has.
//
// GPUs are numbered node by node. Those of a tensor-parallel group are neighbours, then come the
// groups that share a sequence, then the copies of the model, then the stages:
// GPU = ((stage x data + d) x context + c) x tensor + t. Experts are shared by neighbours too,
// whatever their tensor rank: by `parallel.expert` groups of `parallel.expert_tensor` consecutive
// GPUs of a stage, each of which has the same experts cut into parts.
#pragma once

#include <string>

#include "sim/models/model_graph.h"
#include "sim/scenario/decoder_size.h"

namespace weft {

struct Stage {
  PipelinePlace at;
  int part = 0;        // of the model
  bool first = false;  // whether it is the first part
  bool last = false;
  StageLayers layers;
  PlaceId tensor;         // groups that share each layer's matrices
  PlaceId context;        // groups that share each sequence
  PlaceId experts;        // groups that share the experts, each with one part of every expert
  PlaceId of_expert;      // groups that share each expert's matrices
  PlaceId sharing;        // groups with the same weights that share what is sharded
  PlaceId across;         // and GPUs with the same part of it; none: all copies share
  PlaceId expert_data;    // groups with the same part of the same experts that share
  PlaceId expert_across;  // as `across`, of experts
  PlaceId ahead;  // pairs with the stage that has the next part; none if it is the same stage
  PlaceId back;   // pairs with the stage that has the previous part
};

Stage stage_of(ModelGraph& graph, const TransformerSpec& spec, const PipelineShape& pipeline,
               const PipelinePlace& at);

// "stage 1, virtual stage 0, microbatch 3: ", as names of blocks begin.
std::string where(const PipelineShape& pipeline, const PipelineStep& step);

// GPUs of the first and the last stage that have the same slice of the vocabulary.
PlaceId ends_of_pipeline(ModelGraph& graph, const ParallelSpec& parallel);

}  // namespace weft
