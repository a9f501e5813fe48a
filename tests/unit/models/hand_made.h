// Small models written operator by operator.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

inline GemmShape product(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  return shape;
}

struct HandMadeModel {
  ModelGraph graph;

  // All GPUs from `first` on, in groups of `size`, side by side.
  PlaceId groups(std::uint32_t first, std::uint32_t count, std::uint32_t size) {
    Groups place;
    for (std::uint32_t gpu = first; gpu < first + count; ++gpu) {
      if ((gpu - first) % size == 0) place.groups.emplace_back();
      place.groups.back().push_back(gpu);
    }
    return graph.add_place(place);
  }

  OpId add(std::string name, std::string part, OpShape shape, PlaceId place,
           std::vector<OpId> after, std::uint32_t stream = 0) {
    ModelOp op;
    op.name = std::move(name);
    op.part = std::move(part);
    op.shape = std::move(shape);
    op.place = place;
    op.after = std::move(after);
    op.stream = stream;
    op.block = block;
    return graph.add(std::move(op));
  }

  // A layer with tensor parallelism: two GEMMs and the all-reduce of the second one's result.
  void add_layer(PlaceId place, std::int64_t ranks) {
    const OpId up = add("up", "mlp", product(1024, 4096 / ranks, 1024), place, last);
    const OpId down = add("down", "mlp", product(1024, 1024, 4096 / ranks), place, {up});
    CommunicationShape sum;
    sum.op = CollectiveOp::all_reduce;
    sum.buffer = bytes(1024 * 1024 * 2);
    last = {add("reduce", "all_reduce", sum, place, {down}, 1)};
  }

  void begin_block(std::string name, int layer = -1) {
    block = graph.blocks.push_back({.name = std::move(name), .layer = layer});
  }

  BlockId block = BlockId::none();
  std::vector<OpId> last;  // what the next layer waits for
};

}  // namespace weft
