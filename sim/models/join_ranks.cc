#include "sim/models/join_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/models/fusions.h"

namespace weft {
namespace {

// The kernel of each rank of a collective, by rank.
using Kernels = std::vector<OpId>;
struct JoinedCall {
  Kernels kernels;
  OpId call = OpId::none();
};

class Joiner {
 public:
  explicit Joiner(const ModelGraph& graph)
      : graph_(graph), consumers_(graph.ops.size()), joins_(graph.ops.size()) {
    for (std::uint32_t i = 0; i < graph.ops.size(); ++i) {
      for (const OpId before : op(OpId(i)).after) consumers_[before.value].push_back(OpId(i));
    }
    find_neighbours();
  }

  ModelGraph join() {
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) find(OpId(i));
    made_.places = graph_.places;
    made_.blocks = graph_.blocks;
    made_.ops.reserve(graph_.ops.size());
    now_.resize(graph_.ops.size(), OpId::none());
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      const JoinedCall& joined = joins_[i];
      if (joined.kernels.empty()) {
        copy(OpId(i));
      } else if (OpId(i) == last_of(joined.kernels)) {
        add_joined(joined);
      }
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] const ModelOp& op(OpId id) const { return graph_.ops[id]; }
  [[nodiscard]] const Groups& place(OpId id) const { return graph_.places[op(id).place]; }

  [[nodiscard]] static OpId last_of(const Kernels& producers) {
    return *std::max_element(producers.begin(), producers.end());
  }

  // By operator, those before and after it on its stream; meaningful for operators of one GPU only.
  void find_neighbours() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, OpId> last;  // by GPU and stream
    previous_.resize(graph_.ops.size(), OpId::none());
    following_.resize(graph_.ops.size(), OpId::none());
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      for (const std::vector<std::uint32_t>& group : place(OpId(i)).groups) {
        for (const std::uint32_t gpu : group) {
          const auto [known, first] = last.try_emplace({gpu, op(OpId(i)).stream}, OpId(i));
          if (first) continue;
          previous_[i] = std::exchange(known->second, OpId(i));
          following_[previous_[i].value] = OpId(i);
        }
      }
    }
  }

  void find(OpId call) {
    if (!communicates(op(call)) || place(call).groups.size() != 1) return;
    const Kernels producers = by_rank(without_host(op(call).after), call);
    const auto waited_by_it_alone = [this](OpId id) { return consumers_[id.value].size() == 1; };
    if (std::all_of(producers.begin(), producers.end(), waited_by_it_alone) &&
        join_all(producers, call)) {
      join_gemms_before(producers, call);
    }
    const Kernels waiting = by_rank(consumers_[call.value], call);
    if (waiting.empty()) return;
    if (multiplies(waiting.front())) {
      join_all(waiting, call);
    } else {
      join_gemms_after(waiting, call);
    }
  }

  [[nodiscard]] std::vector<OpId> without_host(std::vector<OpId> ids) const {
    std::erase_if(ids, [this](OpId id) { return is_host_time(op(id)); });
    return ids;
  }

  [[nodiscard]] bool multiplies(OpId id) const {
    const auto& work = std::get<RecordedShape>(op(id).shape).work;
    return work && work->gemm;
  }

  // The operators as one recorded kernel per rank of the collective; empty if they are not that.
  [[nodiscard]] Kernels by_rank(const std::vector<OpId>& ids, OpId call) const {
    const std::vector<std::uint32_t>& ranks = place(call).groups.front();
    if (ids.size() != ranks.size()) return {};
    Kernels kernels;
    for (const std::uint32_t gpu : ranks) {
      const auto of_rank =
          std::find_if(ids.begin(), ids.end(), [&](OpId id) { return is_kernel_of(id, gpu); });
      if (of_rank == ids.end()) return {};
      kernels.push_back(*of_rank);
    }
    return kernels;
  }

  [[nodiscard]] bool is_kernel_of(OpId id, std::uint32_t gpu) const {
    const Groups& where = place(id);
    return std::holds_alternative<RecordedShape>(op(id).shape) && where.groups.size() == 1 &&
           where.groups.front() == std::vector{gpu};
  }

  // False if they cannot be one operator.
  bool join_all(const Kernels& kernels, OpId call) {
    if (kernels.empty() || joins_[kernels.front().value].kernels == kernels) return false;
    const auto joined = [this](OpId id) { return !joins_[id.value].kernels.empty(); };
    if (std::any_of(kernels.begin(), kernels.end(), joined)) return false;
    const auto& exchange = std::get<CommunicationShape>(op(call).shape);
    if (!alike(kernels, !exchange.pair_bytes.empty()) || !may_move(kernels)) return false;
    for (const OpId id : kernels) joins_[id.value] = {kernels, call};
    return true;
  }

  void join_gemms_before(const Kernels& between, OpId call) {
    Kernels gemms;
    for (const OpId id : between) {
      const OpId before = previous_[id.value];
      if (before.is_none() || !passes_on(op(before), op(id))) return;
      if (!is_kernel_of(before, place(id).groups.front().front())) return;
      gemms.push_back(before);
    }
    join_all(gemms, call);
  }

  void join_gemms_after(const Kernels& between, OpId call) {
    Kernels gemms;
    for (const OpId id : between) {
      const OpId after = following_[id.value];
      if (after.is_none() || !consumers_[id.value].empty() || !brings(op(id), op(after))) return;
      if (!is_kernel_of(after, place(id).groups.front().front())) return;
      gemms.push_back(after);
    }
    if (join_all(between, call)) join_all(gemms, call);
  }

  // Whether they are the same kernel of one block, though maybe of different durations, or sizes.
  [[nodiscard]] bool alike(const Kernels& producers, bool of_any_size) const {
    const auto& first = std::get<RecordedShape>(op(producers.front()).shape);
    const bool any_name = of_any_size && multiplies(producers.front());  // it has tile and size
    return std::all_of(producers.begin(), producers.end(), [&](OpId id) {
      const auto& each = std::get<RecordedShape>(op(id).shape);
      return (of_any_size ? same_but_for_size(each, first) : same_kernel(each, first)) &&
             (any_name || op(id).name == op(producers.front()).name) &&
             op(id).stream == op(producers.front()).stream &&
             op(id).block == op(producers.front()).block;
    });
  }

  // Whether all can move to where the last of them is: none passes another operator of its GPU's
  // stream or one that waits for it, and none gets an input on its GPU that it did not wait for.
  [[nodiscard]] bool may_move(const Kernels& producers) const {
    const OpId last = last_of(producers);
    const std::set<OpId> inputs = inputs_of(producers);
    return std::all_of(producers.begin(), producers.end(), [&](OpId id) {
      const std::vector<OpId>& waiting = consumers_[id.value];
      if (!waiting.empty() && waiting.front() < last) return false;
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

  [[nodiscard]] std::set<OpId> inputs_of(const Kernels& producers) const {
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
    ModelOp one = op(joined.kernels.front());
    one.place = op(joined.call).place;
    one.after = now(inputs_of(joined.kernels));
    auto& shape = std::get<RecordedShape>(one.shape);
    for (const OpId id : joined.kernels) {
      const auto& of_rank = std::get<RecordedShape>(op(id).shape);
      shape.beside = shape.beside || of_rank.beside;
      shape.time = longer(shape.time, of_rank.time);
      shape.wgs = std::max(shape.wgs, of_rank.wgs);
      shape.by_rank.push_back({.time = of_rank.time, .wgs = of_rank.wgs});
      if (of_rank.work != shape.work) shape.by_rank.back().work = of_rank.work;
    }
    const OpId made = made_.add(std::move(one));
    for (const OpId id : joined.kernels) now_[id.value] = made;
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
  std::vector<std::vector<OpId>> consumers_;  // by operator: who waits for it
  std::vector<OpId> previous_;
  std::vector<OpId> following_;
  std::vector<JoinedCall> joins_;  // by operator
  ModelGraph made_;
  std::vector<OpId> now_;  // by operator of the old graph: the one it became
};

}  // namespace

ModelGraph join_ranks(const ModelGraph& graph) { return Joiner(graph).join(); }

}  // namespace weft
