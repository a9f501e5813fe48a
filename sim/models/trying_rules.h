// How rules for pairs and for collectives are tried, knob by knob.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.h"

namespace weft {

template <class Rule>
using Change = std::function<void(Rule& rule)>;
template <class Rule>
using Knob = std::vector<Change<Rule>>;  // its values

template <class Rule>
Knob<Rule> knob_of(int Rule::*member, std::initializer_list<int> values, int most = 1'000'000) {
  Knob<Rule> knob;
  for (const int value : values) {
    if (value <= most) knob.push_back([member, value](Rule& rule) { rule.*member = value; });
  }
  return knob;
}

// Of a library's collective: algorithm, protocol, channels.
template <class Rule>
std::vector<Knob<Rule>> knobs_of_library(const GpuSpec& gpu) {
  Knob<Rule> algorithms;
  for (const AlgorithmRow& row : kAlgorithmRows) {
    const AskedAlgorithm named{.named = row.algorithm};
    algorithms.push_back([named](Rule& rule) { rule.algorithm = named; });
  }
  Knob<Rule> protocols;
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    protocols.push_back([protocol](Rule& rule) { rule.protocol = protocol; });
  }
  const int usual = gpu.collective.channels;
  return {std::move(algorithms), std::move(protocols),
          knob_of(&Rule::channels, {std::max(1, usual / 4), std::max(1, usual / 2), 2 * usual},
                  gpu.cus)};
}

// Brings each knob to its best, the most telling first, with those before it at their best. `least`
// is the time of the rule as it comes; `time` of a rule is none where it does not suit. Returns the
// least time.
template <class Rule, class Time>
Duration try_knobs(Rule best, Duration least, const std::vector<Knob<Rule>>& knobs,
                   const Time& time) {
  for (const Knob<Rule>& knob : knobs) {
    Rule best_of_knob = best;
    for (const Change<Rule>& change : knob) {
      Rule rule = best;
      change(rule);
      const std::optional<Duration> here = time(rule);
      if (!here || *here >= least) continue;
      least = *here;
      best_of_knob = rule;
    }
    best = best_of_knob;
  }
  return least;
}

// What is kept of all that was tried, in thousandths of a shorter one's time.
inline constexpr std::int64_t kMostLonger = 1250;
inline constexpr std::int64_t kSame = 1001;

inline Duration times(Duration time, std::int64_t thousandths) {
  return picoseconds(time.count() / 1000 * thousandths);
}

}  // namespace weft
