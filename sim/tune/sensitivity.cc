#include "sim/tune/sensitivity.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/report/mode_fields.h"
#include "sim/run/exit_code.h"
#include "sim/sweep/interrupt.h"
#include "sim/sweep/memory_gate.h"
#include "sim/sweep/run_point.h"

namespace weft {
namespace {

// One run: of the scenario with one number changed, or as it is.
struct Change {
  std::optional<std::size_t> number;
  std::string value = {};
};

struct Times {
  std::vector<std::string> modes;
  std::vector<double> us;
  std::string error;
  int exit_code = 0;
};

Times times_of(const PointOutcome& outcome) {
  Times times;
  times.error = outcome.error;
  times.exit_code = outcome.exit_code;
  if (!outcome.ok) return times;
  const auto summary = nlohmann::ordered_json::parse(outcome.summary);
  for (const auto& [mode, fields] : summary.at("modes").items()) {
    times.modes.push_back(mode);
    times.us.push_back(fields.at(kTimeField).get<double>());
  }
  return times;
}

class Asking {
 public:
  Asking(const std::filesystem::path& scenario, const SensitivityOptions& options)
      : scenario_(scenario),
        options_(options),
        numbers_(machine_numbers(scenario, options.load)),
        gate_(memory_for_runs()) {}

  Sensitivity answer() {
    Sensitivity found;
    found.wrong_comments = wrong_comments();
    if (found.wrong_comments.has_errors()) {
      found.exit_code = exit_code::user;
      return found;
    }
    plan();
    run();
    const Times& as_it_is = times_.front();
    found.problem = as_it_is.error;
    found.exit_code = as_it_is.exit_code;
    if (as_it_is.us.empty()) return found;
    for (const Times& one : times_) {  // other values may be wrong; they may not meet a bug
      if (one.exit_code <= exit_code::user) continue;
      found.problem = one.error;
      found.exit_code = one.exit_code;
      return found;
    }
    found.modes = as_it_is.modes;
    found.time_us = as_it_is.us;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      std::optional<Elasticity> one = elasticity(i);
      if (one) {
        found.all.push_back(*std::move(one));
      } else {
        found.not_changed.push_back(numbers_[i]);
      }
    }
    std::stable_sort(found.all.begin(), found.all.end(),
                     [](const Elasticity& a, const Elasticity& b) { return most(a) > most(b); });
    return found;
  }

 private:
  static double most(const Elasticity& one) {
    double largest = 0;
    for (const double value : one.of_modes) largest = std::max(largest, std::abs(value));
    return largest;
  }

  [[nodiscard]] Diagnostics wrong_comments() const {
    Diagnostics wrong;
    for (const MachineNumber& number : numbers_) {
      if (number.wrong_spread.empty()) continue;
      wrong.add({.at = number.at,
                 .path = number.path,
                 .message = number.wrong_spread,
                 .source_line = number.line});
    }
    return wrong;
  }

  void plan() {
    changes_.push_back({.number = std::nullopt});
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      for (const double factor : {1 - options_.step, 1 + options_.step}) {
        if (const auto value = times(numbers_[i], factor)) {
          changes_.push_back({.number = i, .value = *value});
        }
      }
    }
  }

  void run() {
    times_.resize(changes_.size());
    std::atomic<std::size_t> done = 0;
    using Range = tbb::blocked_range<std::size_t>;
    tbb::task_arena(options_.jobs).execute([&] {
      tbb::parallel_for(Range(0, changes_.size(), 1), [&](const Range& some) {
        for (std::size_t i = some.begin(); i < some.end(); ++i) {
          if (interrupted()) throw Interrupted{};
          times_[i] = run_one(changes_[i]);
          if (options_.on_run) options_.on_run(++done, changes_.size());
        }
      });
    });
  }

  Times run_one(const Change& change) {
    LoadOptions load = options_.load;
    if (change.number) load.sets.push_back(numbers_[*change.number].path + '=' + change.value);
    Loaded loaded = load_scenario(scenario_, load);
    if (loaded.scenario) loaded.scenario->run.known = options_.known;
    return times_of(run_point(loaded, "", gate_));
  }

  // Between the lowest and the highest value that ran.
  [[nodiscard]] std::optional<Elasticity> elasticity(std::size_t number) const {
    const Times* low = &times_.front();
    const Times* high = low;
    double low_factor = 1;
    double high_factor = 1;
    for (std::size_t i = 1; i < changes_.size(); ++i) {
      if (changes_[i].number != number || times_[i].us.empty()) continue;
      const double factor = factor_of(numbers_[number], changes_[i].value);
      (factor < 1 ? low : high) = &times_[i];
      (factor < 1 ? low_factor : high_factor) = factor;
    }
    if (low == high) return std::nullopt;
    Elasticity one{.number = numbers_[number], .of_modes = {}};
    for (std::size_t mode = 0; mode < low->us.size(); ++mode) {
      one.of_modes.push_back(std::log(high->us[mode] / low->us[mode]) /
                             std::log(high_factor / low_factor));
    }
    return one;
  }

  const std::filesystem::path& scenario_;
  const SensitivityOptions& options_;
  std::vector<MachineNumber> numbers_;
  MemoryGate gate_;
  std::vector<Change> changes_;
  std::vector<Times> times_;
};

}  // namespace

Sensitivity sensitivity_of(const std::filesystem::path& scenario,
                           const SensitivityOptions& options) {
  return Asking(scenario, options).answer();
}

double spread_of(const MachineNumber& number) {
  if (number.is_count()) return 0;
  if (number.spread) return number.spread->relative;
  switch (number.sureness) {
    case Sureness::measured:
      return 0.03;
    case Sureness::published:
      return 0.05;
    case Sureness::background:
      return 0.2;
    case Sureness::digest:
    case Sureness::derived:
    case Sureness::untagged:
      break;
  }
  return 0.1;
}

namespace {

// That the comment of either says; of one file, so that a number that another file replaces is not
// taken for the one that was fitted.
double correlation_of(const MachineNumber& a, const MachineNumber& b) {
  const auto said = [](const MachineNumber& here, const MachineNumber& there) {
    if (!here.spread || !there.spread || here.at.file != there.at.file) return 0.0;
    return here.spread->correlation_with(there.path).value_or(0);
  };
  const double here = said(a, b);
  return here != 0 ? here : said(b, a);
}

}  // namespace

double spread_of_mode(const Sensitivity& sensitivity, std::size_t mode,
                      std::optional<std::size_t> minus) {
  const auto off_by = [&](const Elasticity& one) {
    return (one.of_modes[mode] - (minus ? one.of_modes[*minus] : 0)) * spread_of(one.number);
  };
  double sum = 0;
  for (std::size_t i = 0; i < sensitivity.all.size(); ++i) {
    const Elasticity& one = sensitivity.all[i];
    sum += std::pow(off_by(one), 2);
    if (!one.number.spread) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const Elasticity& other = sensitivity.all[j];
      sum += 2 * correlation_of(one.number, other.number) * off_by(one) * off_by(other);
    }
  }
  return std::sqrt(std::max(sum, 0.0));  // rounded correlations may leave a little less than 0
}

}  // namespace weft
