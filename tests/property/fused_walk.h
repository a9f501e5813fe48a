// Walks a fused task graph with tokens instead of bytes: WGs go on in any order that their latches
// allow, messages arrive in any order that the network allows. Says what was broken, or nothing.
//
// What the network and the engine promise, and the walk takes for granted: messages of a pair
// inside a node keep their order; so do ordered ones of a pair between nodes; a WG inside a node
// waits for its stores before it sends the flags behind them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/rng.h"
#include "tests/property/cases.h"

namespace weft {

// A piece of data: which item of the graph made it, of all kernels' in their order.
using MadeBy = std::uint32_t;

// By kernel: how many items those before it have.
inline std::vector<std::uint32_t> first_items(const TaskGraph& graph) {
  std::vector<std::uint32_t> first = {0};
  for (const Kernel& kernel : graph.kernels) first.push_back(first.back() + kernel.items);
  return first;
}

class FusedWalk {
 public:
  explicit FusedWalk(const Prepared& prepared)
      : prepared_(prepared), graph_(prepared.graph), rng_(0, "walk") {
    for (const Latch& latch : graph_.latches) left_.push_back(latch.target);
    for (const Kernel& kernel : graph_.kernels) {
      graph_.for_each_run(kernel, [&](const Item& item, std::uint32_t count) {
        items_.insert(items_.end(), count, item);
        gpu_of_.insert(gpu_of_.end(), count, kernel.gpu.value);
      });
    }
    made_.resize(graph_.latches.size());
    arrived_.resize(graph_.kernels.size());
    worked_.resize(graph_.kernels.size());
  }

  // Who knows what an operator promises is asked when an item starts, when a message brings what
  // items have made, and when a GPU's kernel may end.
  struct Promise {
    virtual ~Promise() = default;
    virtual void starts(const FusedWalk& walk, std::uint32_t item) = 0;
    virtual void brings(const FusedWalk& walk, const std::vector<MadeBy>& pieces, const Send&) = 0;
    virtual void ends(const FusedWalk& walk, std::uint32_t gpu) = 0;
  };

  std::string run(std::uint64_t seed, Promise& promise) {
    rng_ = Rng(seed, "walk");
    const std::int64_t hurry = rng_.between(0, 100);  // of messages, against WGs
    std::vector<std::uint32_t> ready;
    std::vector<std::uint32_t> waiting;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      (open(items_[i].waits_for) ? ready : waiting).push_back(i);
    }
    std::vector<bool> ended(graph_.kernels.size());
    while (!ready.empty() || !flying_.empty()) {
      if (!flying_.empty() && (ready.empty() || rng_.between(0, 100) <= hurry)) {
        arrive(promise);
        const auto first = std::partition(waiting.begin(), waiting.end(), [&](std::uint32_t i) {
          return !open(items_[i].waits_for);
        });
        ready.insert(ready.end(), first, waiting.end());
        waiting.erase(first, waiting.end());
      } else {
        const std::uint32_t item = take(ready);
        promise.starts(*this, item);
        work(item);
        // A latch of this GPU that its own WGs open (its part of a reduction) frees items, too.
        const auto first = std::partition(waiting.begin(), waiting.end(), [&](std::uint32_t i) {
          return !open(items_[i].waits_for);
        });
        ready.insert(ready.end(), first, waiting.end());
        waiting.erase(first, waiting.end());
      }
      for (std::uint32_t k = 0; k < graph_.kernels.size(); ++k) {
        const Kernel& kernel = graph_.kernels[KernelId(k)];
        if (ended[k] || worked_[k] < kernel.items || !open(kernel.finish)) continue;
        ended[k] = true;
        promise.ends(*this, kernel.gpu.value);
      }
    }
    if (!waiting.empty()) fail(fmt::format("{} WGs wait for ever", waiting.size()));
    for (std::uint32_t k = 0; k < ended.size(); ++k) {
      if (!ended[k]) fail(fmt::format("GPU {} never ends", k));
    }
    return problem_;
  }

  // How often a piece has come to this GPU in a message.
  [[nodiscard]] int times(std::uint32_t gpu, MadeBy piece) const {
    const auto found = arrived_[gpu].find(piece);
    return found == arrived_[gpu].end() ? 0 : found->second;
  }
  // All that has come to it.
  [[nodiscard]] std::size_t arrivals(std::uint32_t gpu) const {
    std::size_t sum = 0;
    for (const auto& [piece, count] : arrived_[gpu]) sum += static_cast<std::size_t>(count);
    return sum;
  }
  void fail(const std::string& problem) const {
    if (problem_.empty()) problem_ = problem;
  }
  [[nodiscard]] std::uint32_t gpu_of(std::uint32_t item) const { return gpu_of_[item]; }
  [[nodiscard]] const Item& item(std::uint32_t item) const { return items_[item]; }

 private:
  struct Message {
    std::uint32_t from;
    std::uint32_t send;
    std::vector<MadeBy> pieces;
    bool in_order;
  };

  [[nodiscard]] bool open(LatchId latch) const {
    return latch.is_none() || left_[latch.value] == 0;
  }
  [[nodiscard]] bool same_node(std::uint32_t a, std::uint32_t b) const {
    return prepared_.cluster.node_of(GpuId(a)) == prepared_.cluster.node_of(GpuId(b));
  }
  std::uint32_t take(std::vector<std::uint32_t>& from) {
    const auto which =
        static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(from.size()) - 1));
    std::swap(from[which], from.back());
    const std::uint32_t taken = from.back();
    from.pop_back();
    return taken;
  }

  void work(std::uint32_t item) {
    worked_[gpu_of_[item]] += 1;
    const LatchId latch = items_[item].counts_down;
    if (latch.is_none()) return;
    made_[latch.value].push_back(item);
    if (count_down(latch)) send_all(gpu_of_[item], latch);
  }

  bool count_down(LatchId latch) {
    if (latch.is_none()) return false;
    if (left_[latch.value] == 0) {
      fail(fmt::format("latch {} is counted down too often", latch.value));
      return false;
    }
    return --left_[latch.value] == 0;
  }

  // The sends of a latch. A flag behind stores leaves when all stores of the latch have arrived;
  // one behind puts as soon as they are posted.
  void send_all(std::uint32_t from, LatchId id) {
    const TaskGraph::SendRange its = graph_.sends_of(id);
    std::vector<std::uint32_t> stores;
    for (std::uint32_t s = its.first; s < its.end(); ++s) {
      const Send& send = graph_.sends[s];
      const bool near = same_node(from, send.to);
      flying_.push_back({from, s, made_[id.value], near || send.ordered != 0});
      if (near) {
        stores.push_back(s);
        fences_[s] = id.value;
      } else if (count_down(send.issued)) {
        send_all(from, send.issued);
      }
    }
    outstanding_[id.value] = static_cast<std::uint32_t>(stores.size());
  }

  // One message that none of its pair has to come before.
  void arrive(Promise& promise) {
    auto which =
        static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(flying_.size()) - 1));
    for (std::size_t j = 0; j < which && flying_[which].in_order; ++j) {
      if (flying_[j].in_order && flying_[j].from == flying_[which].from &&
          graph_.sends[flying_[j].send].to == graph_.sends[flying_[which].send].to) {
        which = j;
      }
    }
    const Message message = flying_[which];
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(which));
    const Send& send = graph_.sends[message.send];
    for (const MadeBy piece : message.pieces) arrived_[send.to][piece] += 1;
    if (!message.pieces.empty()) promise.brings(*this, message.pieces, send);
    count_down(send.arrives);
    const auto fence = fences_.find(message.send);
    if (fence == fences_.end() || --outstanding_[fence->second] > 0) return;
    behind_fence(message.from, LatchId(fence->second));
  }

  void behind_fence(std::uint32_t from, LatchId id) {
    const TaskGraph::SendRange its = graph_.sends_of(id);
    for (std::uint32_t s = its.first; s < its.end(); ++s) {
      const Send& send = graph_.sends[s];
      if (same_node(from, send.to) && count_down(send.issued)) send_all(from, send.issued);
    }
  }

  const Prepared& prepared_;
  const TaskGraph& graph_;
  Rng rng_;
  std::vector<std::uint32_t> left_;
  std::vector<Item> items_;                        // of all kernels, one after another
  std::vector<std::uint32_t> gpu_of_;              // by item
  std::vector<std::vector<MadeBy>> made_;          // by latch
  std::vector<std::map<MadeBy, int>> arrived_;     // by GPU
  std::vector<std::uint32_t> worked_;              // by kernel, of one GPU each
  std::map<std::uint32_t, std::uint32_t> fences_;  // the latch of each store
  std::map<std::uint32_t, std::uint32_t> outstanding_;
  std::vector<Message> flying_;
  mutable std::string problem_;
};

}  // namespace weft
