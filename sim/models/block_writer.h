// Writes operators one after another. Each waits for the result of the one before; computing ones,
// which follow one another on their stream anyway, wait only for collectives.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/collectives/collective.h"
#include "sim/models/model_graph.h"
#include "sim/models/pair_rules.h"
#include "sim/models/streams.h"

namespace weft {

// Which gradients an operator of the backward pass serves, and which of these operators are
// written. Only gradients of weights can be computed later than the rest.
enum class GradientOf : std::uint8_t { inputs, weights, both };

class BlockWriter {
 public:
  // `rules`: workload.pairs, which may say that layers differ.
  BlockWriter(ModelGraph& graph, const PairRules& rules) : graph_(graph), rules_(rules) {}

  // `layer`: of a decoder; -1: none.
  void begin_block(std::string name, int layer = -1) {
    block_ = graph_.blocks.push_back({.name = std::move(name), .layer = layer});
    layer_rules_ = rules_of_layer(rules_, layer);
  }

  // What comes next takes this as input; none: it needs nothing that was computed.
  void continue_from(OpId input) {
    last_ = input;
    waits_.clear();
  }
  // The next operator waits for this one of another stream; none: for nothing.
  void wait_for(OpId id) {
    if (!id.is_none()) waits_.push_back(id);
  }

  // What waits on CUs beside all that is computed from here on.
  void beside(std::optional<PostedReceive> receive) { beside_ = receive; }

  // From here on, operators that serve other gradients are left out.
  void write_only(GradientOf which) { which_ = which; }
  [[nodiscard]] bool writes(GradientOf which) const {
    return which_ == GradientOf::both || which_ == which;
  }

  OpId compute(std::string name, std::string part, OpShape shape, PlaceId place,
               GradientOf of = GradientOf::inputs) {
    if (!writes(of)) return OpId::none();
    last_ = add({.name = std::move(name),
                 .part = std::move(part),
                 .shape = std::move(shape),
                 .place = place,
                 .stream = kComputes,
                 .after = std::exchange(waits_, {}),
                 .block = block_,
                 .beside = beside_});
    return last_;
  }

  // Communicates what was made last. Nothing waits for it unless told to. `part`: if not that of
  // its collective.
  OpId exchange(std::string name, CommunicationShape call, PlaceId place,
                GradientOf of = GradientOf::inputs, std::string part = {}) {
    if (!writes(of)) return OpId::none();
    std::vector<OpId> after = inputs();
    waits_.clear();
    if (part.empty()) part = name_of(call.op);
    return add({.name = std::move(name),
                .part = std::move(part),
                .shape = std::move(call),
                .place = place,
                .stream = kCritical,
                .after = std::move(after),
                .block = block_});
  }

  // Adds the operator as it stands, in this block.
  OpId add(ModelOp op) {
    op.block = block_;
    op.layer_rules = layer_rules_;
    return graph_.add(std::move(op));
  }

  [[nodiscard]] OpId last() const { return last_; }
  // What an operator on another stream waits for to begin with the next one.
  [[nodiscard]] std::vector<OpId> inputs() const {
    if (!waits_.empty() || last_.is_none()) return waits_;
    return {last_};
  }

 private:
  ModelGraph& graph_;
  const PairRules& rules_;
  std::uint64_t layer_rules_ = 0;
  BlockId block_ = BlockId::none();
  OpId last_ = OpId::none();
  std::vector<OpId> waits_;
  GradientOf which_ = GradientOf::both;
  std::optional<PostedReceive> beside_;
};

}  // namespace weft
