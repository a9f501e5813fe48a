// Runs that need not be simulated again: results by what they depend on, by content (the machine
// as its keys say, the task graph, the options), however a scenario came to it. Points of a sweep
// share one, so that what a knob does not touch is simulated once a point has finished it. Bounded;
// safe from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/engine/results.h"
#include "sim/tasks/task_graph.h"

namespace weft {

// 128 bits of hash: that two of 10^9 different runs share a key has a probability of 10^-21.
struct RunKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  auto operator<=>(const RunKey&) const = default;
};
// What the engine reads: of the options the limits of events and time and the order of ties, not
// what is in the task graph already or changes no result (seed, launches, cores, memory).
RunKey key_of(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options);

class KnownRuns {
 public:
  explicit KnownRuns(Bytes most) : most_(most.count()) {}

  [[nodiscard]] std::optional<RunResult> find(const RunKey& key) const;
  // The oldest give way where there is no room.
  void put(const RunKey& key, const RunResult& result);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Known {
    RunResult result;
    std::int64_t bytes = 0;
  };
  mutable std::mutex guard_;
  std::map<RunKey, Known> known_;
  std::deque<RunKey> in_order_;  // of their arrival
  std::int64_t most_;
  std::int64_t bytes_ = 0;
};

}  // namespace weft
