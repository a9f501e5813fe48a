// The streams of sends between a pipeline's stages.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "sim/models/streams.h"
#include "sim/pipeline/pipeline.h"

namespace weft {

// With 1F1B and GPipe, and in turns, a GPU's sends and receives follow one another. Otherwise they
// may be in flight in both directions with both neighbours, without waiting for one another: the
// parity of the sending stage tells the neighbours apart, except where an odd ring closes.
inline std::uint32_t stream_of_send(const PipelineShape& pipeline, int from, int to) {
  const bool free =
      has_a_choice_of_sends(schedule_row(pipeline.schedule)) && !sends_in_turns(pipeline);
  if (!free) return kPipeline;
  const bool ahead = to == (from + 1) % pipeline.stages;
  const bool closes = pipeline.stages % 2 == 1 && std::abs(from - to) > 1;
  const int pair = closes ? 2 : from % 2;
  return kPipelineWays + static_cast<std::uint32_t>((ahead ? 0 : 3) + pair);
}

}  // namespace weft
