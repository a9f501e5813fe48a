#include "sim/workloads/collective_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/assert.h"
#include "sim/workloads/collective_trial.h"

namespace weft {
namespace {

// Items and messages of a trial: a second or two.
constexpr double kMostOfTrial = 3e6;

// The same GPUs from the first node on, so that groups that lie alike are one.
std::vector<std::uint32_t> moved_to_first_node(const Cluster& cluster, const RankGroup& group) {
  std::vector<std::uint32_t> ranks = group.gpus;
  const std::uint32_t lowest = *std::min_element(ranks.begin(), ranks.end());
  const auto per_node = static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
  for (std::uint32_t& gpu : ranks) gpu -= lowest / per_node * per_node;
  return ranks;
}

// The call by itself, on a machine that is sound.
struct Alone {
  Cluster cluster;
  CollectiveCall call;
};

Alone alone(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group) {
  ClusterSpec spec = cluster.spec;
  spec.stragglers.clear();
  spec.degraded_links.clear();
  if (group.one_node) {
    spec.nodes = 1;
    spec.scale_out.reset();
    spec.nic.reset();
  }
  Alone made{.cluster = cluster, .call = call};
  made.cluster.network = spec.network();
  made.cluster.spec = std::move(spec);
  made.cluster.unsound.clear();
  made.call.ranks = group.gpus;
  made.call.after.clear();
  made.call.launch = {};
  return made;
}

std::string key_of(const CollectiveCall& call, const RankGroup& group) {
  const CollectiveOptions& options = call.options;
  const int named = options.algorithm.named ? static_cast<int>(*options.algorithm.named) : -1;
  const int protocol = options.protocol ? static_cast<int>(*options.protocol) : -1;
  return fmt::format("{} {} {} {} {} {} {}-{} {} {}", static_cast<int>(call.op),
                     call.buffer.count(), named, options.algorithm.of_library, protocol,
                     options.channels, call.cus.first, call.cus.count, call.root,
                     fmt::join(group.gpus, ","));
}

CollectiveCall by(const CollectiveCall& call, CollectiveChoice way) {
  CollectiveCall one = call;
  one.options.algorithm = {.named = way.algorithm, .of_library = false};
  one.options.protocol = way.protocol;
  return one;
}

std::optional<Duration> tried(const Alone& alone, CollectiveChoice way, Duration at_most) {
  CollectiveCall call = by(alone.call, way);
  TaskGraph graph;
  call.operator_id = graph.operators.push_back({.name = "trial", .role = KernelRole::collective});
  add_collective(graph, alone.cluster, call);
  return trial_time(alone.cluster, graph, at_most);
}

bool can_be_tried(const Alone& alone, CollectiveChoice way) {
  const CollectiveCounts counts = count_collective(alone.cluster, by(alone.call, way));
  return counts.items + counts.sends <= kMostOfTrial;
}

CollectiveChoice fastest_of(const Alone& alone, const RankGroup& group,
                            const std::vector<CollectiveChoice>& ways) {
  struct Way {
    CollectiveChoice choice;
    double predicted;
  };
  std::vector<Way> by_prediction;
  by_prediction.reserve(ways.size());
  for (const CollectiveChoice way : ways) {
    by_prediction.push_back({way, predicted_time(alone.cluster, alone.call, group, way)});
  }
  std::stable_sort(by_prediction.begin(), by_prediction.end(),
                   [](const Way& a, const Way& b) { return a.predicted < b.predicted; });
  constexpr double kPicoseconds = 1e12;
  constexpr Duration kLongest = picoseconds(INT64_MAX / 4);
  Duration least = kLongest;
  CollectiveChoice best = by_prediction.front().choice;
  for (const Way& way : by_prediction) {
    if (way.predicted > kDoubt * by_prediction.front().predicted) break;
    std::optional<Duration> time;
    if (can_be_tried(alone, way.choice)) {
      time = tried(alone, way.choice, least);
    } else {
      time = picoseconds(std::llround(
          std::min(way.predicted * kPicoseconds, 0.5 * static_cast<double>(kLongest.count()))));
    }
    if (!time || *time >= least) continue;
    least = *time;
    best = way.choice;
  }
  return best;
}

}  // namespace

CollectiveChoice fastest(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                         const std::vector<CollectiveChoice>& ways) {
  RankGroup moved = group;
  moved.gpus = moved_to_first_node(cluster, group);
  const std::string key = key_of(call, moved);
  std::optional<int> known = cluster.choices.find(key);
  if (!known) {
    const CollectiveChoice best = fastest_of(alone(cluster, call, moved), moved, ways);
    known = static_cast<int>(best.algorithm) * static_cast<int>(kProtocols) +
            static_cast<int>(best.protocol);
    cluster.choices.put(key, *known);
  }
  return {.algorithm = static_cast<Algorithm>(*known / static_cast<int>(kProtocols)),
          .protocol = static_cast<Protocol>(*known % static_cast<int>(kProtocols))};
}

}  // namespace weft
