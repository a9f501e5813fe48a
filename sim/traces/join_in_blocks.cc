#include "sim/traces/join_in_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace weft {
namespace {

using Ids = std::span<const OpId>;  // of the graph as it was

class Joiner {
 public:
  Joiner(ModelGraph&& graph, const std::vector<ModelPosition>& positions,
         const WaitsForLater& wrong)
      : graph_(std::move(graph)), positions_(positions), wrong_(wrong) {}

  ModelGraph join() {
    now_.assign(positions_.size(), OpId::none());
    const std::vector<OpId> order = in_order();
    for (auto first = order.begin(); first != order.end();) {
      const auto last = std::find_if(
          first, order.end(), [&](OpId id) { return position_of(id) != position_of(*first); });
      enter_block(position_of(*first).block);
      const Ids alike(first, last);
      for (const OpId id : alike) wait_for_new(id);
      if (are_one(alike)) {
        add(alike);
      } else {
        for (const OpId& id : alike) add({&id, 1});
      }
      first = last;
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] ModelPosition position_of(OpId id) const { return positions_[id.value]; }
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& groups_of(OpId id) const {
    return graph_.places[graph_.ops[id].place].groups;
  }

  // Those of one position by their GPUs.
  [[nodiscard]] std::vector<OpId> in_order() const {
    std::vector<OpId> order;
    order.reserve(positions_.size());
    for (std::uint32_t i = 0; i < positions_.size(); ++i) order.emplace_back(i);
    std::stable_sort(order.begin(), order.end(), [this](OpId a, OpId b) {
      const ModelPosition x = position_of(a);
      const ModelPosition y = position_of(b);
      return x != y ? x < y : groups_of(a) < groups_of(b);
    });
    return order;
  }

  void enter_block(std::uint32_t number) {
    if (!made_.blocks.empty() && number == block_) return;
    block_ = number;
    made_.blocks.push_back({.name = fmt::format("block {}", number)});
  }

  // Writes what it waits for as the new graph has it.
  void wait_for_new(OpId id) {
    ModelOp& op = graph_.ops[id];
    for (OpId& before : op.after) {
      const OpId now = now_[before.value];
      if (now.is_none()) {
        wrong_(id, before);
        failed_ = true;
      }
      before = now;
    }
    std::sort(op.after.begin(), op.after.end());
    op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
  }

  [[nodiscard]] bool are_one(Ids alike) const {
    if (alike.size() < 2 || failed_) return false;
    std::vector<std::uint32_t> gpus;
    std::vector<OpId> inputs;
    for (const OpId id : alike) {
      const ModelOp& op = graph_.ops[id];
      if (!do_the_same(op, graph_.ops[alike.front()])) return false;
      for (const auto& group : groups_of(id)) gpus.insert(gpus.end(), group.begin(), group.end());
      inputs.insert(inputs.end(), op.after.begin(), op.after.end());
    }
    std::sort(gpus.begin(), gpus.end());
    if (std::adjacent_find(gpus.begin(), gpus.end()) != gpus.end()) return false;
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    return std::all_of(alike.begin(), alike.end(),
                       [&](OpId id) { return waits_for_all(id, inputs); });
  }

  // Whether it would not wait, on its GPUs, for anything that it has not waited for.
  [[nodiscard]] bool waits_for_all(OpId id, const std::vector<OpId>& inputs) const {
    const std::vector<OpId>& own = graph_.ops[id].after;
    return std::all_of(inputs.begin(), inputs.end(), [&](OpId input) {
      if (std::binary_search(own.begin(), own.end(), input)) return true;
      const std::vector<std::uint32_t>& there = gpus_of_place_[made_.ops[input].place.value];
      const auto& groups = groups_of(id);
      return std::none_of(groups.begin(), groups.end(), [&](const auto& group) {
        return std::any_of(group.begin(), group.end(), [&](std::uint32_t gpu) {
          return std::binary_search(there.begin(), there.end(), gpu);
        });
      });
    });
  }

  void add(Ids alike) {
    Groups place;
    std::vector<OpId> inputs;
    for (const OpId id : alike) {
      const auto& groups = groups_of(id);
      place.groups.insert(place.groups.end(), groups.begin(), groups.end());
      const std::vector<OpId>& own = graph_.ops[id].after;
      inputs.insert(inputs.end(), own.begin(), own.end());
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    ModelOp op = std::exchange(graph_.ops[alike.front()], {});
    op.block = BlockId(static_cast<std::uint32_t>(made_.blocks.size()) - 1);
    op.place = id_of(place);
    op.after = std::move(inputs);
    const OpId made = made_.add(std::move(op));
    for (const OpId id : alike) now_[id.value] = made;
  }

  PlaceId id_of(const Groups& place) {
    const auto [known, added] = place_ids_.try_emplace(place.groups, PlaceId(0));
    if (!added) return known->second;
    std::vector<std::uint32_t> gpus;
    for (const auto& group : place.groups) gpus.insert(gpus.end(), group.begin(), group.end());
    std::sort(gpus.begin(), gpus.end());
    gpus_of_place_.push_back(std::move(gpus));
    return known->second = made_.places.push_back(place);
  }

  ModelGraph graph_;
  const std::vector<ModelPosition>& positions_;  // by operator of it
  const WaitsForLater& wrong_;
  bool failed_ = false;
  ModelGraph made_;
  std::uint32_t block_ = 0;                                // the last one made
  std::vector<OpId> now_;                                  // by operator: what it has become
  std::vector<std::vector<std::uint32_t>> gpus_of_place_;  // of the new graph, in ascending order
  std::map<std::vector<std::vector<std::uint32_t>>, PlaceId> place_ids_;
};

}  // namespace

ModelGraph join_in_blocks(ModelGraph&& graph, const std::vector<ModelPosition>& positions,
                          const WaitsForLater& wrong) {
  return Joiner(std::move(graph), positions, wrong).join();
}

ModelGraph join_in_blocks(ModelGraph&& graph, const std::vector<RankTrace>& ranks,
                          const std::vector<NodeAt>& made_by, TraceProblems& problems) {
  std::vector<ModelPosition> positions;
  positions.reserve(made_by.size());
  for (const NodeAt at : made_by) positions.push_back(ranks[at.rank].position_of(at.node));
  const auto label = [&](OpId id) -> const std::string& {
    return ranks[made_by[id.value].rank].nodes[made_by[id.value].node].label;
  };
  return join_in_blocks(std::move(graph), positions, [&](OpId op, OpId later) {
    problems.add(
        ranks[made_by[op.value].rank].file, label(op) + ": model_block",
        fmt::format("{}, waits for {} of block {}, which is later: nodes with blocks "
                    "must stand in an order in which they can run",
                    positions[op.value].block, label(later), positions[later.value].block));
  });
}

}  // namespace weft
