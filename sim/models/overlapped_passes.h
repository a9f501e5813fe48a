// A forward and a backward pass of two microbatches on one stage, layer by layer at once
// (PipelineStep::overlaps_next): while one waits for a collective, the other computes.
//
// Both are written one after the other, like all steps, and put in order here. A layer forward and
// one backward make one block. What each computes is cut where it waits for a collective of its
// own; these parts take turns, in proportion to how many each has, the backward's first. With
// experts (F forward, B backward; DeepSeek-V3, arXiv:2412.19437, Fig. 4, has the same turns):
//
//   computes      B sum   F attention   B experts   F experts   B attention   F sum
//   exchanges             B dispatch    F dispatch  B combine   F combine
#pragma once

#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

struct WrittenStep {
  OpId first;
  bool overlaps_next = false;
};

// `steps`: all of a pipeline, as they were written; what overlaps has two more steps behind it.
ModelGraph with_overlaps(ModelGraph graph, const std::vector<WrittenStep>& steps);

}  // namespace weft
