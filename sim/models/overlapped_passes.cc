#include "sim/models/overlapped_passes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/models/streams.h"

namespace weft {
namespace {

using Ids = std::vector<OpId>;

class Reordered {
 public:
  explicit Reordered(ModelGraph graph) : from_(std::move(graph)) {
    order_.reserve(from_.ops.size());
  }

  void pass(OpId first, OpId behind) { append(ids(first, behind)); }

  void passes_at_once(OpId forward, OpId backward, OpId behind) {
    const std::vector<Ids> ahead = blocks(ids(forward, backward));
    const std::vector<Ids> back = blocks(ids(backward, behind));
    for (std::size_t i = 0; i < std::max(ahead.size(), back.size()); ++i) {
      if (i < ahead.size() && i < back.size()) {
        join(block_of(ahead[i].front()), block_of(back[i].front()));
        take_turns(parts(back[i], backward), parts(ahead[i], forward));
      } else {
        append(i < ahead.size() ? ahead[i] : back[i]);
      }
    }
  }

  ModelGraph graph() {
    ModelGraph to;
    to.places = std::move(from_.places);
    to.ops.reserve(order_.size());
    IdVector<OpId, OpId> moved(from_.ops.size());
    std::map<BlockId, BlockId> blocks;
    for (const OpId id : order_) {
      ModelOp op = std::move(from_.ops[id]);
      for (OpId& before : op.after) before = moved[before];
      const auto joined = joined_.find(op.block);
      const BlockId block = joined == joined_.end() ? op.block : joined->second;
      if (!blocks.contains(block)) {
        blocks.emplace(block, to.blocks.push_back(std::move(from_.blocks[block])));
      }
      op.block = blocks.at(block);
      moved[id] = to.add(std::move(op));
    }
    return to;
  }

 private:
  static Ids ids(OpId first, OpId behind) {
    Ids all;
    all.reserve(behind.value - first.value);
    for (std::uint32_t id = first.value; id < behind.value; ++id) all.emplace_back(id);
    return all;
  }

  void append(const Ids& ids) { order_.insert(order_.end(), ids.begin(), ids.end()); }

  [[nodiscard]] BlockId block_of(OpId id) const { return from_.ops[id].block; }

  void join(BlockId ahead, BlockId back) {
    joined_.emplace(back, ahead);
    from_.blocks[ahead].name += ", beside " + from_.blocks[back].name;
  }

  [[nodiscard]] std::vector<Ids> blocks(const Ids& pass) const {
    std::vector<Ids> all;
    for (const OpId id : pass) {
      if (all.empty() || block_of(id) != block_of(all.back().front())) all.emplace_back();
      all.back().push_back(id);
    }
    return all;
  }

  // Whether it computes with what a collective of its own pass brought.
  [[nodiscard]] bool waits(const ModelOp& op, OpId pass) const {
    if (op.stream != kComputes) return false;
    return std::any_of(op.after.begin(), op.after.end(), [&](OpId before) {
      return before >= pass && communicates(from_.ops[before]);
    });
  }

  [[nodiscard]] std::vector<Ids> parts(const Ids& block, OpId pass) const {
    std::vector<Ids> all;
    for (const OpId id : block) {
      if (all.empty() || waits(from_.ops[id], pass)) all.emplace_back();
      all.back().push_back(id);
    }
    return all;
  }

  // Part i of n stands at (i + 1/2) / n.
  void take_turns(const std::vector<Ids>& first, const std::vector<Ids>& second) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < first.size() || j < second.size()) {
      const bool is_first =
          j == second.size() || (2 * i + 1) * second.size() <= (2 * j + 1) * first.size();
      append(i < first.size() && is_first ? first[i++] : second[j++]);
    }
  }

  std::map<BlockId, BlockId> joined_;  // the backward's, with the forward's
  ModelGraph from_;
  Ids order_;
};

}  // namespace

ModelGraph with_overlaps(ModelGraph graph, const std::vector<WrittenStep>& steps) {
  const OpId end = graph.ops.next_id();
  const auto first_of = [&](std::size_t step) {
    return step < steps.size() ? steps[step].first : end;
  };
  const bool any = std::any_of(steps.begin(), steps.end(),
                               [](const WrittenStep& step) { return step.overlaps_next; });
  if (!any) return graph;
  Reordered reordered(std::move(graph));
  reordered.pass(OpId(0), steps.front().first);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].overlaps_next) {
      reordered.passes_at_once(first_of(i), first_of(i + 1), first_of(i + 2));
      ++i;
    } else {
      reordered.pass(first_of(i), first_of(i + 1));
    }
  }
  return reordered.graph();
}

}  // namespace weft
