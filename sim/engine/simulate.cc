#include "sim/engine/simulate.h"

#include <algorithm>
#include <utility>

#include "sim/engine/known_runs.h"
#include "sim/engine/run_memory.h"
#include "sim/engine/simulator.h"
#include "sim/engine/windowed_run.h"

namespace weft {
namespace {

// Of a share, at least: with less to do, sharing costs more than it brings.
constexpr std::int64_t kWorthASimulator = 50'000;  // WGs and messages
// To be looked up: less is simulated in the time in which its key is found.
constexpr std::size_t kWorthKnowing = 2'000;

// Within run.max_memory.
std::uint32_t most_shares(const Cluster& cluster, const TaskGraph& graph,
                          const RunOptions& options) {
  const auto worth =
      static_cast<std::int64_t>(graph.items.size() + graph.sends.size()) / kWorthASimulator;
  const std::int64_t shares = std::min<std::int64_t>(worth, options.cores);
  if (shares < 2) return 1;
  const Bytes left = options.max_memory - memory_of_run(cluster, graph);
  const std::int64_t more = left.count() / memory_of_share(cluster, graph).count();
  return static_cast<std::uint32_t>(1 + std::clamp<std::int64_t>(more, 0, shares - 1));
}

// Records of WGs and messages are kept in the order in which things happen, on all nodes.
std::optional<Recorded> in_windows(const Cluster& cluster, const TaskGraph& graph,
                                   const RunOptions& options, const RecordOptions* record,
                                   const OnProgress& on_progress) {
  if (options.queues == Queues::one || cluster.network.nodes < 2) return std::nullopt;
  if (record != nullptr && record->detail != Detail::intervals) return std::nullopt;
  Places places = places_of(cluster, graph, Transport(cluster.network));
  if (places.count < 2 || places.lookahead < WindowQueue::kLeastLookahead) return std::nullopt;
  Shares shares =
      shares_of(std::move(places), cluster, graph, most_shares(cluster, graph, options));
  return WindowedRun(cluster, graph, options, std::move(shares), record).run(on_progress);
}

}  // namespace

// Only runs that finished are known: others say why not, which depends on the machine's memory.
KnownRun simulate_or_know(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                          const OnProgress& on_progress) {
  RunOptions unknown = options;
  unknown.known = nullptr;
  if (options.known == nullptr || graph.items.size() + graph.sends.size() < kWorthKnowing) {
    return {simulate(cluster, graph, unknown, on_progress), std::nullopt};
  }
  const RunKey key = key_of(cluster, graph, options);
  if (std::optional<RunResult> known = options.known->find(key)) {
    if (on_progress) on_progress(Progress{});
    return {*std::move(known), key};
  }
  KnownRun run{simulate(cluster, graph, unknown, on_progress), std::nullopt};
  if (run.result.ending != Ending::finished) return run;
  options.known->put(key, run.result);
  run.key = key;
  return run;
}

RunResult simulate(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                   const OnProgress& on_progress) {
  if (options.known != nullptr) {
    return simulate_or_know(cluster, graph, options, on_progress).result;
  }
  auto all = in_windows(cluster, graph, options, nullptr, on_progress);
  if (all) return std::move(all->result);
  return Simulator(cluster, graph, options).run(on_progress);
}

Recorded simulate_and_record(const Cluster& cluster, const TaskGraph& graph,
                             const RunOptions& options, const RecordOptions& record,
                             const OnProgress& on_progress) {
  if (auto all = in_windows(cluster, graph, options, &record, on_progress)) return *std::move(all);
  Simulator simulator(cluster, graph, options);
  simulator.record(record);
  Recorded all{.result = simulator.run(on_progress), .recording = {}};
  if (all.result.ending == Ending::finished) {
    all.recording = simulator.recording(all.result.time);
  }
  return all;
}

}  // namespace weft
