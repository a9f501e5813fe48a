#include "sim/models/join_ranks.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/assert.h"

namespace weft {
namespace {

// The kernel of each rank of a collective, by rank.
using Producers = std::vector<OpId>;
struct JoinedCall {
  Producers producers;
  OpId call = OpId::none();
};

class Joiner {
 public:
  explicit Joiner(const ModelGraph& graph)
      : graph_(graph), consumers_(graph.ops.size()), joins_(graph.ops.size()) {
    for (const ModelOp& op : graph.ops) {
      for (const OpId before : op.after) ++consumers_[before.value];
    }
  }

  ModelGraph join() {
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) find(OpId(i));
    made_.places = graph_.places;
    made_.blocks = graph_.blocks;
    now_.resize(graph_.ops.size(), OpId::none());
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      const JoinedCall& joined = joins_[i];
      if (joined.producers.empty()) {
        copy(OpId(i));
      } else if (OpId(i) == last_of(joined.producers)) {
        add_joined(joined);
      }
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] const ModelOp& op(OpId id) const { return graph_.ops[id]; }
  [[nodiscard]] const Groups& place(OpId id) const { return graph_.places[op(id).place]; }

  [[nodiscard]] static OpId last_of(const Producers& producers) {
    return *std::max_element(producers.begin(), producers.end());
  }

  void find(OpId call) {
    if (!communicates(op(call)) || place(call).groups.size() != 1) return;
    const std::vector<std::uint32_t>& ranks = place(call).groups.front();
    if (op(call).after.size() != ranks.size()) return;
    Producers producers;
    for (const std::uint32_t gpu : ranks) {
      const auto of_rank = std::find_if(op(call).after.begin(), op(call).after.end(),
                                        [&](OpId id) { return is_producer(id, gpu); });
      if (of_rank == op(call).after.end()) return;
      producers.push_back(*of_rank);
    }
    if (!alike(producers) || !may_move(producers)) return;
    for (const OpId id : producers) joins_[id.value] = {producers, call};
  }

  // A recorded kernel of this GPU alone that nobody but one collective waits for.
  [[nodiscard]] bool is_producer(OpId id, std::uint32_t gpu) const {
    const Groups& where = place(id);
    return std::holds_alternative<RecordedShape>(op(id).shape) && consumers_[id.value] == 1 &&
           where.groups.size() == 1 && where.groups.front() == std::vector{gpu};
  }

  // The same kernel, though not as long.
  [[nodiscard]] bool alike(const Producers& producers) const {
    return std::all_of(producers.begin(), producers.end(), [&](OpId id) {
      const auto& first = std::get<RecordedShape>(op(producers.front()).shape);
      return same_kernel(std::get<RecordedShape>(op(id).shape), first) && op(id).name == op(producers.front()).name &&
             op(id).stream == op(producers.front()).stream;
    });
  }

  // To where the last of them is: past nothing of its GPU's stream; and nobody waits for what only
  // another rank's kernel waits for.
  [[nodiscard]] bool may_move(const Producers& producers) const {
    const OpId last = last_of(producers);
    const std::set<OpId> inputs = inputs_of(producers);
    return std::all_of(producers.begin(), producers.end(), [&](OpId id) {
      const std::uint32_t gpu = place(id).groups.front().front();
      for (std::uint32_t i = id.value + 1; i <= last.value; ++i) {
        if (op(OpId(i)).stream == op(id).stream && holds(place(OpId(i)), gpu)) return false;
      }
      return std::all_of(inputs.begin(), inputs.end(), [&](OpId input) {
        const std::vector<OpId>& own = op(id).after;
        return !holds(place(input), gpu) || std::find(own.begin(), own.end(), input) != own.end();
      });
    });
  }

  [[nodiscard]] static bool holds(const Groups& place, std::uint32_t gpu) {
    return std::any_of(place.groups.begin(), place.groups.end(), [gpu](const auto& group) {
      return std::find(group.begin(), group.end(), gpu) != group.end();
    });
  }

  [[nodiscard]] std::set<OpId> inputs_of(const Producers& producers) const {
    std::set<OpId> inputs;
    for (const OpId id : producers) inputs.insert(op(id).after.begin(), op(id).after.end());
    return inputs;
  }

  void copy(OpId id) {
    ModelOp same = op(id);
    same.after = now(std::set<OpId>(same.after.begin(), same.after.end()));
    now_[id.value] = made_.add(std::move(same));
  }

  void add_joined(const JoinedCall& joined) {
    ModelOp one = op(joined.producers.front());
    one.place = op(joined.call).place;
    one.after = now(inputs_of(joined.producers));
    auto& shape = std::get<RecordedShape>(one.shape);
    for (const OpId id : joined.producers) {
      const auto& of_rank = std::get<RecordedShape>(op(id).shape);
      shape.time_by_rank.push_back(of_rank.time);
      shape.beside = shape.beside || of_rank.beside;
      shape.time = longer(shape.time, shape.time_by_rank.back());
    }
    const OpId made = made_.add(std::move(one));
    for (const OpId id : joined.producers) now_[id.value] = made;
  }

  [[nodiscard]] std::vector<OpId> now(const std::set<OpId>& before) const {
    std::set<OpId> after;
    for (const OpId id : before) {
      SIM_ASSERT(!now_[id.value].is_none());
      after.insert(now_[id.value]);
    }
    return {after.begin(), after.end()};
  }

  const ModelGraph& graph_;
  std::vector<std::uint32_t> consumers_;  // how many wait for an operator
  std::vector<JoinedCall> joins_;         // by operator
  ModelGraph made_;
  std::vector<OpId> now_;  // by operator of the graph: the one it became
};

}  // namespace

ModelGraph join_ranks(const ModelGraph& graph) { return Joiner(graph).join(); }

}  // namespace weft
