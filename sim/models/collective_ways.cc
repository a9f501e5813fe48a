#include "sim/models/collective_ways.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "sim/models/collective_rules.h"
#include "sim/models/concurrently.h"
#include "sim/models/pair_knobs.h"
#include "sim/models/trying_rules.h"

namespace weft {
namespace {

using Lone = ModelRun::LoneCollective;

bool about_equal(Duration a, Duration b) { return a < times(b, kSame) && b < times(a, kSame); }

class TryingCollectives {
 public:
  TryingCollectives(const ModelRun& model, const Scenario& scenario, const Cluster& cluster,
                    const PairTrials& how)
      : model_(model), scenario_(scenario), cluster_(cluster), how_(how) {}

  std::vector<CollectiveWays> ways() {
    for (Lone& one : model_.lone_collectives()) put_to_its_name(std::move(one));
    options_ = scenario_.run;
    options_.cores = 1;
    options_.max_memory = bytes(options_.max_memory.count() / how_.at_a_time);
    std::vector<CollectiveWays> all(names_.size());
    concurrently(names_.size(), how_.at_a_time, [&](std::size_t i) {
      all[i] = tried(names_[i]);
      const std::lock_guard lock(telling_);
      how_.on_done(++done_, names_.size());
    });
    std::erase_if(all, [](const CollectiveWays& one) { return one.ways.empty(); });
    std::stable_sort(all.begin(), all.end(), [](const CollectiveWays& a, const CollectiveWays& b) {
      return a.as_it_is > b.as_it_is;
    });
    return all;
  }

 private:
  using OfAName = std::vector<Lone>;

  void put_to_its_name(Lone one) {
    const auto known = std::find_if(names_.begin(), names_.end(), [&one](const OfAName& other) {
      return other.front().op().name == one.op().name;
    });
    (known == names_.end() ? names_.emplace_back() : *known).push_back(std::move(one));
  }

  // Whether some of them can be run so.
  [[nodiscard]] bool suits(const OfAName& all, const CollectiveRule& rule) const {
    return std::any_of(all.begin(), all.end(), [&](const Lone& one) {
      const auto& call = std::get<CommunicationShape>(one.op().shape);
      if (!why_not_by_library(call, scenario_.collective.executor).empty()) return false;
      return !rule.algorithm ||
             why_no_algorithm(*rule.algorithm, cluster_, call, one.alone.places[one.op().place])
                 .empty();
    });
  }

  // `rule`: null: as they are.
  [[nodiscard]] std::optional<Duration> time_of(const OfAName& all,
                                                const CollectiveRule* rule) const {
    Duration sum;
    for (const Lone& one : all) {
      how_.stop_if_asked();
      const CollectiveOptions& of_scenario = scenario_.collective;
      const CollectiveOptions run_as =
          rule == nullptr ? options_of(std::get<CommunicationShape>(one.op().shape), of_scenario)
                          : options_by(*rule, of_scenario);
      const std::optional<Duration> time = model_.time_of(one, run_as, options_);
      if (!time) return std::nullopt;
      sum += *time * one.times;
    }
    return sum;
  }

  [[nodiscard]] CollectiveWays tried(const OfAName& all) const {
    CollectiveWays found{.name = all.front().op().name, .as_it_is = {}, .ways = {}};
    const std::optional<Duration> as_they_are = time_of(all, nullptr);
    if (!as_they_are) return found;
    found.as_it_is = *as_they_are;
    std::vector<TriedCollective> every;
    const auto time = [&](const CollectiveRule& rule) {
      const std::optional<Duration> here = suits(all, rule) ? time_of(all, &rule) : std::nullopt;
      if (here) every.push_back({.rule = rule, .time = *here});
      return here;
    };
    CollectiveRule plain;
    plain.collective = found.name;
    const Duration least = try_knobs(plain, found.as_it_is,
                                     knobs_of_library<CollectiveRule>(scenario_.cluster.gpu), time);
    found.ways = different(std::move(every), found.as_it_is, least);
    return found;
  }

  static std::vector<TriedCollective> different(std::vector<TriedCollective> all, Duration as_it_is,
                                                Duration least) {
    std::stable_sort(
        all.begin(), all.end(),
        [](const TriedCollective& a, const TriedCollective& b) { return a.time < b.time; });
    std::vector<TriedCollective> kept;
    for (const TriedCollective& way : all) {
      if (way.time > times(least, kMostLonger) || about_equal(way.time, as_it_is)) continue;
      if (!kept.empty() && about_equal(way.time, kept.back().time)) continue;
      kept.push_back(way);
    }
    return kept;
  }

  const ModelRun& model_;
  const Scenario& scenario_;
  const Cluster& cluster_;
  const PairTrials& how_;
  RunOptions options_;
  std::vector<OfAName> names_;
  std::mutex telling_;
  std::size_t done_ = 0;
};

}  // namespace

std::vector<CollectiveWays> collective_ways(const ModelRun& model, const Scenario& scenario,
                                            const Cluster& cluster, const PairTrials& how) {
  return TryingCollectives(model, scenario, cluster, how).ways();
}

}  // namespace weft
