#include "sim/models/replicas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/collectives/collective.h"

namespace weft {
namespace {

using Ranks = std::vector<std::uint32_t>;

class Replicator {
 public:
  Replicator(const ModelGraph& graph, std::uint32_t gpus, std::uint32_t recorded,
             std::uint32_t copies)
      : graph_(graph), size_(gpus / recorded), recorded_(recorded), copies_(copies) {}

  ReplicatedGraph replicate() {
    compare_replicas();
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) check(graph_.ops[OpId(i)]);
    if (!made_.problems.empty()) return std::move(made_);
    ModelGraph copied = graph_;
    for (std::uint32_t i = 0; i < copied.places.size(); ++i) {
      copied.places[PlaceId(i)] = replicated(graph_.places[PlaceId(i)]);
    }
    for (std::uint32_t i = 0; i < copied.ops.size(); ++i) grow(copied.ops[OpId(i)]);
    copied.verify();
    made_.graph = std::move(copied);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::uint32_t replica_of(std::uint32_t gpu) const { return gpu / size_; }

  [[nodiscard]] bool spans(const Ranks& group) const {
    return std::any_of(group.begin(), group.end(), [&](std::uint32_t gpu) {
      return replica_of(gpu) != replica_of(group.front());
    });
  }

  // Whether the group has the same places in each replica, replica after replica.
  [[nodiscard]] bool spans_all_alike(const Ranks& group) const {
    if (group.size() % recorded_ != 0) return false;
    const std::size_t of_each = group.size() / recorded_;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] != group[i % of_each] + size_ * static_cast<std::uint32_t>(i / of_each)) {
        return false;
      }
    }
    return replica_of(group.front()) == 0;
  }

  // Operators that recur have the same problem, which is said once.
  void add(std::string problem) {
    constexpr std::size_t kListed = 25;
    if (made_.problems.size() == kListed || !said_.insert(problem).second) return;
    made_.problems.push_back(std::move(problem));
  }

  void check(const ModelOp& op) {
    for (const Ranks& group : graph_.places[op.place].groups) {
      if (!spans(group)) continue;
      if (!spans_all_alike(group)) {
        add(fmt::format(
            "'{}' is among GPUs {} to {}, which are not the same ones of each of the {} recorded "
            "replicas of {} GPUs, so it is unknown who takes part on {}",
            op.name, group.front(), group.back(), recorded_, size_, copies_));
      } else if (const auto* call = std::get_if<CommunicationShape>(&op.shape)) {
        check_kind(op, *call);
      }
    }
  }

  void check_kind(const ModelOp& op, const CommunicationShape& call) {
    ++made_.grown;
    const bool grows = call.op == CollectiveOp::all_reduce || call.op == CollectiveOp::all_gather ||
                       call.op == CollectiveOp::reduce_scatter;
    if (grows) return;
    add(
        fmt::format("'{}' is an {} across replicas: what each GPU sends to whom, and computes of "
                    "it, on another "
                    "number of them was not recorded",
                    op.name, name_of(call.op)));
  }

  // What tells two operators apart, besides their times, and grids: compilers choose them rank by
  // rank.
  static std::string signature(const ModelOp& op) {
    if (const auto* call = std::get_if<CommunicationShape>(&op.shape)) {
      return fmt::format("{} of {} B", name_of(call->op), call->buffer.count());
    }
    const auto* kernel = std::get_if<RecordedShape>(&op.shape);
    if (kernel == nullptr || !kernel->work) return op.name;
    return fmt::format("{}, {} B read, {} B written", op.name, kernel->work->read.count(),
                       kernel->work->written.count());
  }

  // By GPU and stream, what runs there.
  using Queues = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>;
  [[nodiscard]] Queues queues() const {
    Queues queues;
    for (std::uint32_t i = 0; i < graph_.ops.size(); ++i) {
      const ModelOp& op = graph_.ops[OpId(i)];
      for (const Ranks& group : graph_.places[op.place].groups) {
        for (const std::uint32_t gpu : group) queues[{gpu, op.stream}].push_back(i);
      }
    }
    return queues;
  }

  // The replicas do the same, one stream after another.
  void compare_replicas() {
    const Queues all = queues();
    const auto queue_of = [&](std::uint32_t gpu, std::uint32_t stream) {
      const auto known = all.find({gpu, stream});
      return known == all.end() ? std::vector<std::uint32_t>() : known->second;
    };
    for (const auto& [at, queue] : all) {
      const std::uint32_t like = at.first % size_;
      for (std::uint32_t gpu = like; gpu < size_ * recorded_; gpu += size_) {
        const std::string difference =
            difference_of(like, queue_of(like, at.second), gpu, queue_of(gpu, at.second));
        if (difference.empty()) continue;
        add("the recorded replicas do not do the same, so their step cannot be repeated: " +
            difference);
        return;
      }
    }
  }

  [[nodiscard]] std::string difference_of(std::uint32_t gpu,
                                          const std::vector<std::uint32_t>& queue,
                                          std::uint32_t other_gpu,
                                          const std::vector<std::uint32_t>& other) const {
    for (std::size_t i = 0; i < std::min(queue.size(), other.size()); ++i) {
      const std::string here = signature(graph_.ops[OpId(queue[i])]);
      const std::string there = signature(graph_.ops[OpId(other[i])]);
      if (here == there) continue;
      return fmt::format("where GPU {} has '{}', GPU {} has '{}'", gpu, here, other_gpu, there);
    }
    if (queue.size() == other.size()) return {};
    return fmt::format("GPU {} has {} operators on a stream, GPU {} has {}", gpu, queue.size(),
                       other_gpu, other.size());
  }

  [[nodiscard]] Groups replicated(const Groups& place) const {
    Groups made;
    for (const Ranks& group : place.groups) {
      if (spans(group)) {
        made.groups.push_back(grown(group));
        continue;
      }
      const std::uint32_t of = replica_of(group.front());
      for (std::uint32_t copy = of; copy < copies_; copy += recorded_) {
        Ranks moved = group;
        for (std::uint32_t& gpu : moved) gpu += (copy - of) * size_;
        made.groups.push_back(std::move(moved));
      }
    }
    return made;
  }

  [[nodiscard]] Ranks grown(const Ranks& group) const {
    const std::size_t of_each = group.size() / recorded_;
    Ranks all;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      for (std::size_t i = 0; i < of_each; ++i) all.push_back(group[i] + copy * size_);
    }
    return all;
  }

  // Kernels that ranks have different times of, beside a collective of theirs that grows.
  void grow(ModelOp& op) const {
    auto* kernel = std::get_if<RecordedShape>(&op.shape);
    const Groups& place = graph_.places[op.place];
    if (kernel == nullptr || kernel->by_rank.empty() || !spans(place.groups.front())) return;
    const std::size_t recorded = kernel->by_rank.size();
    const std::size_t wanted = recorded / recorded_ * copies_;
    for (std::size_t i = recorded; i < wanted; ++i) {
      kernel->by_rank.push_back(RecordedOfRank(kernel->by_rank[i % recorded]));
    }
    kernel->by_rank.resize(wanted);
  }

  const ModelGraph& graph_;
  std::uint32_t size_;  // GPUs of a replica
  std::uint32_t recorded_;
  std::uint32_t copies_;
  ReplicatedGraph made_;
  std::set<std::string> said_;
};

}  // namespace

ReplicatedGraph replicate(const ModelGraph& graph, std::uint32_t gpus, std::uint32_t recorded,
                          std::uint32_t copies) {
  return Replicator(graph, gpus, recorded, copies).replicate();
}

}  // namespace weft
