// The functions that make the schedules in the table of schedules.cc.
#pragma once

#include "sim/pipeline/pipeline.h"

namespace weft::pipelines {

using Kind = PipelineStep::Kind;
using Steps = std::vector<PipelineStep>;

Steps one_forward_one_backward(const PipelineShape& shape, int stage);
Steps interleaved(const PipelineShape& shape, int stage);
Steps combined_1f1b(const PipelineShape& shape, int stage);
Steps breadth_first(const PipelineShape& shape, int stage);  // with one virtual stage: GPipe
Steps zero_bubble_h1(const PipelineShape& shape, int stage);
Steps zero_bubble_v(const PipelineShape& shape, int stage);
Steps dualpipe_v(const PipelineShape& shape, int stage);

}  // namespace weft::pipelines
