#include "sim/tune/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "sim/tune/response.h"

namespace weft {
namespace {

constexpr std::size_t kMostPairs = 5;

std::optional<Trial> trial_of(const Row& row, const Objectives& objectives) {
  const std::optional<std::vector<Achieved>> here = all_achieved(objectives, row.outcome.summary);
  if (!here) return std::nullopt;
  const std::optional<Achieved> memory = achieved(
      {.column = "memory_of_fullest_gpu_bytes", .larger_is_better = true}, row.outcome.summary);
  return Trial{.row = &row,
               .achieved = here->front(),
               .besides = {here->begin() + 1, here->end()},
               .memory_bytes = memory ? std::optional(memory->value) : std::nullopt};
}

// "128/256" of keys that change together: of the first three, which mostly say the others.
constexpr std::size_t kNaming = 3;
template <class Text>
std::string joined(const std::vector<SweepKey>& keys, const Text& text_of_key) {
  std::string all;
  for (std::size_t i = 0; i < std::min(keys.size(), kNaming); ++i) {
    all += (i == 0 ? "" : "/") + text_of_key(keys[i]);
  }
  return all;
}

class Answering {
 public:
  Answering(const SweepPlan& plan, const Tuned& tuned, const Objectives& objectives)
      : plan_(plan), tuned_(tuned), objectives_(objectives), space_(space_of(plan)) {}

  Answer answer(double tie) {
    find_trials();
    if (answer_.trials.empty()) return std::move(answer_);
    const double best = cost(answer_.trials.front());
    for (const Trial& trial : answer_.trials) {
      if (cost(trial) <= best * (1 + tie)) ++answer_.ties;
    }
    --answer_.ties;  // the best itself
    if (tuned_.start) answer_.start = trial_of(*tuned_.start, objectives_);
    if (tuned_.defaults) answer_.defaults = trial_of(*tuned_.defaults, objectives_);
    find_front();
    value_knobs();
    return std::move(answer_);
  }

 private:
  [[nodiscard]] double cost(const Trial& trial) const {
    return cost_of(objectives_.front(), trial.achieved.value);
  }

  void find_trials() {
    costs_.assign(space_.points(), std::nullopt);
    tried_.assign(space_.points(), false);
    for (const Row& row : tuned_.rows) {
      tried_[row.row] = true;
      if (std::optional<Trial> trial = trial_of(row, objectives_)) {
        costs_[row.row] = cost(*trial);
        answer_.trials.push_back(*std::move(trial));
      }
    }
    std::stable_sort(answer_.trials.begin(), answer_.trials.end(),
                     [&](const Trial& a, const Trial& b) { return cost(a) < cost(b); });
  }

  // What it is worse in, the more the worse; none: it has no memory.
  [[nodiscard]] std::vector<double> costs_on_front(const Trial& trial) const {
    if (objectives_.size() == 1 && !trial.memory_bytes) return {};
    std::vector<double> costs{cost(trial)};
    if (objectives_.size() == 1) costs.push_back(*trial.memory_bytes);
    for (std::size_t i = 0; i < trial.besides.size(); ++i) {
      costs.push_back(cost_of(objectives_[i + 1], trial.besides[i].value));
    }
    return costs;
  }

  // In this order none is beaten by a later one, so each is compared with the front before it.
  void find_front() {
    std::vector<std::pair<std::vector<double>, std::size_t>> ordered;
    for (std::size_t i = 0; i < answer_.trials.size(); ++i) {
      std::vector<double> costs = costs_on_front(answer_.trials[i]);
      if (!costs.empty()) ordered.emplace_back(std::move(costs), i);
    }
    std::sort(ordered.begin(), ordered.end());
    std::vector<const std::vector<double>*> front;
    for (const auto& [costs, trial] : ordered) {
      const auto is_as_good = [&costs = costs](const std::vector<double>* other) {
        return std::equal(other->begin(), other->end(), costs.begin(), std::less_equal<>());
      };
      if (std::any_of(front.begin(), front.end(), is_as_good)) continue;
      front.push_back(&costs);
      answer_.front.push_back(trial);
    }
  }

  void value_knobs() {
    std::vector<Costed> seen;
    for (std::size_t point = 0; point < costs_.size(); ++point) {
      if (costs_[point]) seen.push_back({.point = point, .cost = *costs_[point]});
    }
    find_values(seen);
    const Response response(space_, seen);
    answer_.estimate_error = response.error();
    const std::size_t best = answer_.trials.front().row->row;
    for (std::size_t axis = 0; axis < space_.axes(); ++axis) {
      answer_.knobs.push_back(knob(axis, best, response));
    }
    // Beside a best of 0 nothing has a ratio.
    if (answer_.trials.front().achieved.value > 0) find_pairs(best, response);
  }

  void find_values(const std::vector<Costed>& seen) {
    for (std::size_t axis = 0; axis < space_.axes(); ++axis) {
      simulated_.emplace_back(space_.size_of(axis), false);
      for (const Costed& costed : seen) simulated_[axis][space_.at(costed.point)[axis]] = true;
    }
  }

  Knob knob(std::size_t axis, std::size_t best, const Response& response) const {
    const std::vector<SweepKey>& keys = plan_.axes[axis].keys;
    Knob knob{.name = joined(keys, [](const SweepKey& key) { return key.column; }),
              .best = space_.at(best)[axis],
              .start = std::nullopt,
              .values = {}};
    const std::uint32_t start = tuned_.start_values[axis];
    if (start < space_.size_of(axis)) knob.start = start;
    Space::Values values = space_.at(best);
    for (std::uint32_t value = 0; value < space_.size_of(axis); ++value) {
      values[axis] = value;
      knob.values.push_back(valued(values, best, response));
      KnobValue& made = knob.values.back();
      if (made.known == KnobValue::Known::estimated && !simulated_[axis][value]) {
        made.known = KnobValue::Known::untried;
      }
    }
    name_values(keys, knob.values);
    return knob;
  }

  // Values that have in common what they are named by are told apart by those other keys that are
  // not as in the first.
  static void name_values(const std::vector<SweepKey>& keys, std::vector<KnobValue>& values) {
    std::map<std::string, int> times;
    for (std::size_t value = 0; value < values.size(); ++value) {
      values[value].text =
          joined(keys, [value](const SweepKey& key) { return text_of(key.cells[value]); });
      ++times[values[value].text];
    }
    for (std::size_t value = 0; value < values.size(); ++value) {
      if (times[values[value].text] == 1) continue;
      for (std::size_t i = kNaming; i < keys.size(); ++i) {
        const std::string text = text_of(keys[i].cells[value]);
        if (text != text_of(keys[i].cells[0])) {
          values[value].text += fmt::format(" {}={}", keys[i].column, text);
        }
      }
    }
  }

  KnobValue valued(const Space::Values& values, std::size_t best, const Response& response) const {
    const std::optional<std::size_t> point = space_.find(values);
    if (!point || (tried_[*point] && !costs_[*point])) return {};
    if (costs_[*point]) {
      return {.text = "",
              .known = KnobValue::Known::simulated,
              .longer = *costs_[*point] / *costs_[best] - 1};
    }
    const double log_ratio = response.log_cost(values) - response.log_cost(space_.at(best));
    return {.text = "", .known = KnobValue::Known::estimated, .longer = std::exp(log_ratio) - 1};
  }

  // Of all values of both, as the response has them.
  double interaction(std::size_t a, std::size_t b, const Space::Values& best,
                     const Response& response) const {
    double largest = 0;
    const double at_best = response.log_cost(best);
    Space::Values values = best;
    for (std::uint32_t of_a = 0; of_a < space_.size_of(a); ++of_a) {
      for (std::uint32_t of_b = 0; of_b < space_.size_of(b); ++of_b) {
        values[a] = of_a;
        values[b] = of_b;
        const double both = response.log_cost(values);
        values[b] = best[b];
        const double only_a = response.log_cost(values);
        values[a] = best[a];
        values[b] = of_b;
        const double only_b = response.log_cost(values);
        values[b] = best[b];
        largest = std::max(largest, std::abs(both - only_a - only_b + at_best));
      }
    }
    return largest;
  }

  void find_pairs(std::size_t best, const Response& response) {
    for (std::size_t a = 0; a < space_.axes(); ++a) {
      for (std::size_t b = a + 1; b < space_.axes(); ++b) {
        const double size = interaction(a, b, space_.at(best), response);
        if (size > std::max(response.error(), 0.01)) {
          answer_.pairs.push_back({.one = a, .other = b, .interaction = size});
        }
      }
    }
    std::stable_sort(
        answer_.pairs.begin(), answer_.pairs.end(),
        [](const KnobPair& x, const KnobPair& y) { return x.interaction > y.interaction; });
    if (answer_.pairs.size() > kMostPairs) answer_.pairs.resize(kMostPairs);
  }

  const SweepPlan& plan_;
  const Tuned& tuned_;
  const Objectives& objectives_;
  Space space_;
  std::vector<std::optional<double>> costs_;  // by point
  std::vector<bool> tried_;
  std::vector<std::vector<bool>> simulated_;  // by axis and value: a point with it was
  Answer answer_;
};

}  // namespace

Answer answer_of(const SweepPlan& plan, const Tuned& tuned, const Objectives& objectives,
                 double tie) {
  return Answering(plan, tuned, objectives).answer(tie);
}

}  // namespace weft
