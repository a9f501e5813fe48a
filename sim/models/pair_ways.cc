#include "sim/models/pair_ways.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "sim/models/concurrently.h"
#include "sim/models/trying_rules.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

using PairKnob = Knob<PairRule>;

// Such as libraries have; those that a pair's kernel has not are left out when they are tried.
PairKnob tiles() {
  PairKnob knob;
  for (const GemmTile tile :
       {GemmTile{256, 128}, GemmTile{128, 256}, GemmTile{128, 192}, GemmTile{128, 128},
        GemmTile{64, 256}, GemmTile{64, 128}, GemmTile{128, 64}, GemmTile{64, 64}}) {
    knob.push_back([tile](PairRule& rule) {
      rule.tile_m = tile.m;
      rule.tile_n = tile.n;
    });
  }
  return knob;
}

// The most telling first: each is tried with those before it at their best.
std::vector<PairKnob> knobs_of(Mode mode, const GpuSpec& gpu) {
  if (mode == Mode::pipelined) return {tiles()};
  if (!is_fused(mode)) {
    std::vector<PairKnob> knobs{tiles()};
    if (mode == Mode::kernel) {
      knobs.insert(knobs.begin(), knob_of(&PairRule::chunks, {2, 4, 8, 16}));
    }
    for (PairKnob& knob : knobs_of_library<PairRule>(gpu)) knobs.push_back(std::move(knob));
    return knobs;
  }
  PairKnob orders;
  for (const DestinationOrder order :
       {DestinationOrder::remote_first, DestinationOrder::local_first, DestinationOrder::staggered,
        DestinationOrder::in_turn, DestinationOrder::rotating}) {
    orders.push_back([order](PairRule& rule) { rule.order = order; });
  }
  std::vector<PairKnob> knobs{knob_of(&PairRule::slice_wgs, {1, 2, 4, 8, 16}), std::move(orders),
                              knob_of(&PairRule::max_wgs_per_cu, {1, 2, 4}), tiles(),
                              knob_of(&PairRule::own_first, {16, 64, 256})};
  if (mode == Mode::fused) {
    knobs.push_back({[](PairRule& rule) { rule.add = FusedAdd::with_own; }});
  }
  if (mode == Mode::role_split) {
    knobs.insert(knobs.begin(), knob_of(&PairRule::sending_cus, {4, 8, 16, 32}, gpu.cus - 1));
  }
  return knobs;
}

class TryingPairs {
 public:
  TryingPairs(ModelRun& model, const Scenario& scenario, const PairTrials& how)
      : model_(model), scenario_(scenario), how_(how) {}

  std::vector<PairWays> ways() {
    name_pairs();
    std::vector<Job> jobs;
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      for (const Mode mode : modes_of(scenario_.workload.kind)) {
        if (mode != Mode::mixed) jobs.push_back({.pair = pair, .mode = mode, .found = {}});
      }
    }
    RunOptions options = scenario_.run;
    options.cores = 1;
    options.max_memory = bytes(options.max_memory.count() / how_.at_a_time);
    concurrently(jobs.size(), how_.at_a_time, [&](std::size_t i) {
      jobs[i].found = tried(jobs[i], options);
      const std::lock_guard lock(telling_);
      how_.on_done(++done_, jobs.size());
    });
    for (Job& job : jobs) {
      std::vector<TriedWay>& all = pairs_[job.pair].ways;
      std::move(job.found.begin(), job.found.end(), std::back_inserter(all));
    }
    for (PairWays& pair : pairs_) put_in_order(pair);
    std::erase_if(pairs_, [](const PairWays& pair) { return pair.ways.empty(); });
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const PairWays& a, const PairWays& b) { return gain(a) > gain(b); });
    return std::move(pairs_);
  }

 private:
  struct Job {
    std::size_t pair = 0;
    Mode mode = Mode::bulk;
    std::vector<TriedWay> found;
  };

  // Candidates of one name are one: they differ in their sizes, or in the GPUs that they are on.
  void name_pairs() {
    for (const Candidate& one : model_.candidates()) {
      if (!one.obstacle.empty()) continue;
      const auto known = std::find_if(pairs_.begin(), pairs_.end(), [&one](const PairWays& pair) {
        return pair.name == one.name;
      });
      const auto index = static_cast<std::size_t>(known - pairs_.begin());
      if (known == pairs_.end()) {
        pairs_.push_back({.name = one.name, .computing = one.computing, .bulk = {}, .ways = {}});
        without_rules_.emplace_back();
      }
      pairs_[index].bulk += one.bulk * one.times;
      without_rules_[index] += model_.time_without_rules(one) * one.times;
    }
  }

  std::vector<TriedWay> tried(const Job& job, const RunOptions& options) const {
    std::vector<TriedWay> all;
    const auto time = [&](const PairRule& rule) {
      how_.stop_if_asked();
      const std::optional<Duration> found = model_.time_by(rule, options);
      if (found) all.push_back({.rule = rule, .time = *found});
      return found;
    };
    PairRule plain;
    plain.pair = pairs_[job.pair].name;
    plain.mode = job.mode;
    const std::optional<Duration> least = time(plain);
    if (!least) return all;  // the mode does not suit it
    try_knobs(plain, *least, knobs_of(job.mode, scenario_.cluster.gpu), time);
    return all;
  }

  void put_in_order(PairWays& pair) const {
    std::stable_sort(pair.ways.begin(), pair.ways.end(),
                     [](const TriedWay& a, const TriedWay& b) { return a.time < b.time; });
    std::vector<TriedWay> kept;
    const bool has_rules = !scenario_.workload.pairs.empty();
    const Duration as_it_is = without_rules_[static_cast<std::size_t>(&pair - pairs_.data())];
    for (const TriedWay& way : pair.ways) {
      const bool is_long = way.time > times(pair.ways.front().time, kMostLonger) &&
                           !way_by(way.rule, {}).is_plain_bulk();
      const bool is_known =
          (!has_rules && way.time == as_it_is) ||
          std::any_of(kept.begin(), kept.end(), [&way](const TriedWay& shorter) {
            return way.time == shorter.time ||
                   (way.rule.mode == shorter.rule.mode && way.time < times(shorter.time, kSame));
          });
      if (!is_long && !is_known) kept.push_back(way);
    }
    pair.ways = best_of_each_mode_first(std::move(kept));
  }

  static std::vector<TriedWay> best_of_each_mode_first(std::vector<TriedWay> sorted) {
    std::vector<TriedWay> first;
    std::vector<TriedWay> others;
    for (TriedWay& way : sorted) {
      const bool has_mode = std::any_of(first.begin(), first.end(), [&way](const TriedWay& other) {
        return other.rule.mode == way.rule.mode;
      });
      (has_mode ? others : first).push_back(std::move(way));
    }
    std::move(others.begin(), others.end(), std::back_inserter(first));
    return first;
  }

  static Duration gain(const PairWays& pair) { return pair.bulk - pair.ways.front().time; }

  ModelRun& model_;
  const Scenario& scenario_;
  const PairTrials& how_;
  std::vector<PairWays> pairs_;
  std::vector<Duration> without_rules_;  // by pair, what they take then
  std::mutex telling_;
  std::size_t done_ = 0;
};

}  // namespace

std::vector<PairWays> pair_ways(ModelRun& model, const Scenario& scenario, const PairTrials& how) {
  return TryingPairs(model, scenario, how).ways();
}

}  // namespace weft
