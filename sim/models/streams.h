// The streams of a GPU, the same in all models, and operators that stream data through memory.
#pragma once

#include <cstdint>

#include "sim/models/model_graph.h"

namespace weft {

constexpr std::uint32_t kComputes = 0;
constexpr std::uint32_t kCritical = 1;       // collectives that the next operator waits for
constexpr std::uint32_t kDataParallel = 2;   // gradients and parameters
constexpr std::uint32_t kPipeline = 3;       // sends from stage to stage
constexpr std::uint32_t kPipelineWays = 4;   // first of six, if each direction has its own streams
constexpr std::uint32_t kParameters = 10;    // parameters that are gathered for a layer
constexpr std::uint32_t kAcrossGroups = 11;  // gradients of copies that do not share them

// Size of `elements` elements of `type`.
constexpr Bytes bytes_of(std::int64_t elements, DataType type) { return size_of(type) * elements; }

// An operator on all elements of some tensors, each read or written once.
struct Elementwise {
  std::int64_t elements = 0;      // per tensor
  std::int64_t read = 0;          // tensors
  std::int64_t written = 0;       // tensors
  std::int64_t operations = 0;    // per element
  std::int64_t instructions = 0;  // of a thread per element, if counted
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

// The number of weights that a WG of a fused optimiser updates.
constexpr std::int64_t kChunk = 65'536;

inline CommunicationShape even_call(CollectiveOp op, Bytes buffer) {
  return {.op = op, .buffer = buffer, .pair_bytes = {}};
}

}  // namespace weft
