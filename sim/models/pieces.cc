#include "sim/models/pieces.h"

#include <algorithm>
#include <unordered_map>  // not iterated
#include <utility>

#include "sim/core/fingerprint.h"

namespace weft {
namespace {

struct Span {  // the operators of a block
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

// Finds the first block of each kind. Blocks are of one kind if they are the same, operator by
// operator, except for what they wait for in other blocks: fold() then cuts them into the same
// pieces.
class Kinds {
 public:
  explicit Kinds(const ModelGraph& graph) : graph_(graph) {}

  ModelGraph first_of_each() {
    kept_.places = graph_.places;
    for (Span span; span.end < graph_.ops.size();) {
      span.first = span.end;
      const BlockId block = graph_.ops[OpId(span.first)].block;
      while (span.end < graph_.ops.size() && graph_.ops[OpId(span.end)].block == block) ++span.end;
      if (is_new(span)) keep(span);
    }
    return std::move(kept_);
  }

 private:
  bool is_new(Span span) {
    std::vector<Span>& alike = by_hash_[hash_of(span)];
    const bool known =
        std::any_of(alike.begin(), alike.end(), [&](Span other) { return same(other, span); });
    if (!known) alike.push_back(span);
    return !known;
  }

  [[nodiscard]] std::uint64_t hash_of(Span span) const {
    Fingerprint hash;
    for (std::uint32_t i = span.first; i < span.end; ++i) {
      const ModelOp& op = graph_.ops[OpId(i)];
      hash.add(fnv1a(op.name));
      hash.add(op.place.value);
    }
    return hash.value();
  }

  [[nodiscard]] bool same(Span a, Span b) const {
    if (a.end - a.first != b.end - b.first) return false;
    for (std::uint32_t i = 0; i < a.end - a.first; ++i) {
      const ModelOp& x = graph_.ops[OpId(a.first + i)];
      const ModelOp& y = graph_.ops[OpId(b.first + i)];
      const bool alike = x.place == y.place && inside(x, a) == inside(y, b) && do_the_same(x, y);
      if (!alike) return false;
    }
    return true;
  }

  // What an operator waits for in its own block, numbered from the block's first operator.
  static std::vector<std::uint32_t> inside(const ModelOp& op, Span span) {
    std::vector<std::uint32_t> after;
    for (const OpId before : op.after) {
      if (before.value >= span.first) after.push_back(before.value - span.first);
    }
    return after;
  }

  void keep(Span span) {
    const BlockId block = kept_.blocks.push_back(graph_.blocks[graph_.ops[OpId(span.first)].block]);
    const auto first = static_cast<std::uint32_t>(kept_.ops.size());
    for (std::uint32_t i = span.first; i < span.end; ++i) {
      ModelOp op = graph_.ops[OpId(i)];
      op.block = block;
      op.after.clear();
      for (const std::uint32_t at : inside(graph_.ops[OpId(i)], span)) {
        op.after.emplace_back(first + at);
      }
      kept_.add(std::move(op));
    }
  }

  const ModelGraph& graph_;
  ModelGraph kept_;
  std::unordered_map<std::uint64_t, std::vector<Span>> by_hash_;
};

}  // namespace

std::vector<Piece> pieces_of(const ModelGraph& graph, const Cluster& cluster) {
  if (graph.blocks.empty()) return unfolded(graph).pieces;
  const ModelGraph kept = Kinds(graph).first_of_each();
  SIM_ASSERT(!kept.blocks.empty());  // no piece refers to it
  return fold(kept, cluster).pieces;
}

}  // namespace weft
