#include "sim/collectives/collective_trials.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/collectives/collective_trial.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// Items and messages of a trial, at most: a second or two.
constexpr double kMostOfTrial = 3e6;

// The call on a sound machine, by all groups at once that may slow one another down.
struct Trial {
  Cluster cluster;
  CollectiveCall call;
  std::vector<RankGroup> groups;
};

Trial trial_of(const Cluster& cluster, const CollectiveCall& call, std::vector<RankGroup> groups) {
  ClusterSpec spec = cluster.spec;
  if (cluster.gpu_of_choices != nullptr) spec.gpu = *cluster.gpu_of_choices;
  spec.stragglers.clear();
  spec.degraded_links.clear();
  if (groups.front().one_node) {
    spec.nodes = 1;
    spec.scale_out.reset();
    spec.nic.reset();
  }
  Trial made{.cluster = cluster, .call = call, .groups = std::move(groups)};
  made.cluster.network = spec.network();
  made.cluster.spec = std::move(spec);
  made.cluster.unsound.clear();
  made.cluster.gpu_of_choices = nullptr;
  made.call.ranks.clear();
  made.call.turns = 1;
  made.call.at_once = nullptr;
  made.call.after.clear();
  made.call.launch = {};
  return made;
}

Memo::Key key_of(const CollectiveCall& call, const std::vector<RankGroup>& groups) {
  const CollectiveOptions& options = call.options;
  const RankGroup& first = groups.front();
  Memo::Key key{static_cast<int>(call.op),
                call.buffer.count(),
                options.algorithm.named ? static_cast<int>(*options.algorithm.named) : -1,
                options.algorithm.of_library ? 1 : 0,
                options.protocol ? static_cast<int>(*options.protocol) : -1,
                options.channels,
                call.cus.first,
                call.cus.count,
                call.root,
                first.one_node ? 1 : 0,
                first.size()};
  for (const RankGroup& group : groups) {
    key.insert(key.end(), group.gpus.begin(), group.gpus.end());
  }
  return key;
}

// By the library's kernels, for an engine's are not tried. Leaves options.algorithm.of_library as
// it is, because that decides the channels too.
CollectiveCall by(const Trial& trial, const RankGroup& group, CollectiveChoice way) {
  CollectiveCall one = trial.call;
  one.ranks = group.gpus;
  one.options.algorithm.named = way.algorithm;
  one.options.algorithm.of_engine = false;
  one.options.protocol = way.protocol;
  return one;
}

std::optional<Duration> tried(const Trial& trial, CollectiveChoice way, Duration at_most) {
  TaskGraph graph;
  const OperatorId id =
      graph.operators.push_back({.name = "trial", .role = KernelRole::collective});
  for (const RankGroup& group : trial.groups) {
    CollectiveCall call = by(trial, group, way);
    call.operator_id = id;
    add_collective(graph, trial.cluster, call);
  }
  return trial_time(trial.cluster, graph, at_most);
}

struct Way {
  CollectiveChoice choice;
  double predicted = 0;  // seconds
  double needed = 0;     // items and messages of a group
};

// The ways worth trying according to their predicted times, the best first.
std::vector<Way> promising(const Trial& trial, const std::vector<CollectiveChoice>& ways) {
  const RankGroup& group = trial.groups.front();
  std::vector<Way> all;
  all.reserve(ways.size());
  for (const CollectiveChoice way : ways) {
    const CollectiveCounts counts = count_collective(trial.cluster, by(trial, group, way));
    all.push_back({.choice = way,
                   .predicted = predicted_time(trial.cluster, trial.call, group, way),
                   .needed = counts.items + counts.sends});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Way& a, const Way& b) { return a.predicted < b.predicted; });
  const double most = kDoubt * all.front().predicted;
  const auto hopeless =
      std::find_if(all.begin(), all.end(), [&](const Way& way) { return way.predicted > most; });
  all.erase(hopeless, all.end());
  return all;
}

// Keeps as many groups as every way can be tried with, at least one.
void leave_out_what_is_too_much(Trial& trial, const std::vector<Way>& ways) {
  double most = 1;
  for (const Way& way : ways) {
    if (way.needed <= kMostOfTrial) most = std::max(most, way.needed);
  }
  const auto groups = static_cast<std::size_t>(kMostOfTrial / most);
  if (trial.groups.size() > groups) trial.groups.resize(groups);
}

CollectiveChoice fastest_of(Trial trial, const std::vector<CollectiveChoice>& all) {
  const std::vector<Way> ways = promising(trial, all);
  leave_out_what_is_too_much(trial, ways);
  constexpr double kPicoseconds = 1e12;
  constexpr Duration kLongest = picoseconds(INT64_MAX / 4);
  Duration least = kLongest;
  CollectiveChoice best = ways.front().choice;
  for (const Way& way : ways) {
    std::optional<Duration> time;
    if (way.needed <= kMostOfTrial) {
      time = tried(trial, way.choice, least);
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

int number_of(CollectiveChoice choice) {
  return static_cast<int>(choice.algorithm) * static_cast<int>(kProtocols) +
         static_cast<int>(choice.protocol);
}

CollectiveChoice choice_of(int number) {
  return {.algorithm = static_cast<Algorithm>(number / static_cast<int>(kProtocols)),
          .protocol = static_cast<Protocol>(number % static_cast<int>(kProtocols))};
}

// Of all machines: which ways there are is not the same for each.
int fastest_or_known(Trial trial, Memo::Key key, const std::vector<CollectiveChoice>& ways,
                     KnownRuns* known) {
  if (known == nullptr) return number_of(fastest_of(std::move(trial), ways));
  for (const CollectiveChoice way : ways) key.push_back(number_of(way));
  const std::optional<int> found = known_choice(*known, trial.cluster, key);
  // Read from a file, perhaps: a number that is none of the ways is tried again.
  const bool is_a_way = found && std::any_of(ways.begin(), ways.end(), [&](CollectiveChoice way) {
                          return number_of(way) == *found;
                        });
  if (is_a_way) return *found;
  const Cluster machine = trial.cluster;
  const int best = number_of(fastest_of(std::move(trial), ways));
  keep_choice(*known, machine, key, best);
  return best;
}

}  // namespace

CollectiveChoice fastest(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
                         const std::vector<CollectiveChoice>& ways) {
  std::vector<RankGroup> groups = groups_at_once(cluster, call, group);
  const Memo::Key key = key_of(call, groups);
  std::optional<int> chosen = cluster.choices().find(key);
  if (!chosen) {
    chosen = fastest_or_known(trial_of(cluster, call, std::move(groups)), key, ways,
                              cluster.choices().known_runs);
    cluster.choices().put(key, *chosen);
  }
  return choice_of(*chosen);
}

}  // namespace weft
