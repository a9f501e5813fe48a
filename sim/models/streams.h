// The streams of a GPU, alike in all models, and what streams through memory on the first.
#pragma once

#include <cstdint>

#include "sim/models/model_graph.h"

namespace weft {

constexpr std::uint32_t kComputes = 0;
constexpr std::uint32_t kCritical = 1;      // collectives that the next operator waits for
constexpr std::uint32_t kDataParallel = 2;  // gradients and parameters
constexpr std::uint32_t kPipeline = 3;      // from stage to stage
constexpr std::uint32_t kPipelineWays = 4;  // and six from there on, where each way has its own

// `elements` of `type`.
constexpr Bytes bytes_of(std::int64_t elements, DataType type) { return size_of(type) * elements; }

// An operator on all elements of some tensors, each read or written once: so many tensors of
// `elements`, so many operations an element.
struct Elementwise {
  std::int64_t elements = 0;
  std::int64_t read = 0;
  std::int64_t written = 0;
  std::int64_t operations = 0;
  std::int64_t instructions = 0;  // where counted: of a thread
  bool down_columns = false;      // sums over rows: a thread loads one element of each tensor
};
constexpr StreamShape stream_of(const Elementwise& work, DataType type) {
  const Bytes tensor = bytes_of(work.elements, type);
  StreamShape shape{.read = tensor * work.read,
                    .written = tensor * work.written,
                    .flops = flops(work.elements) * work.operations,
                    .instructions = work.elements * work.instructions};
  if (work.down_columns) {
    shape.load = size_of(type);
    shape.loads_in_flight = static_cast<int>(work.read);
  }
  return shape;
}

// Weights that a WG of a fused optimiser updates.
constexpr std::int64_t kChunk = 65'536;

constexpr CommunicationShape even_call(CollectiveOp op, Bytes buffer) {
  return {.op = op, .buffer = buffer, .pair_bytes = {}};
}

}  // namespace weft
