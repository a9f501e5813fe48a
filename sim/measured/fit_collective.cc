#include "sim/measured/fit_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "sim/measured/errors.h"
#include "sim/measured/fit_steps.h"

namespace weft {
namespace {

// A number that is fitted: a time in microseconds or a rate in bytes per microsecond.
struct Unknown {
  const char* path;
  Duration* time;
  Bandwidth* rate;
};

double value_of(const Unknown& unknown) {
  return unknown.time != nullptr ? to_microseconds(*unknown.time) : bytes_a_us(*unknown.rate);
}

std::string set_text(const Unknown& unknown, double value) {
  if (unknown.time != nullptr) {
    return fmt::format("cluster.gpu.{}={} ps", unknown.path, from_us(value).count());
  }
  return fmt::format("cluster.gpu.{}={} B/s", unknown.path, from_bytes_a_us(value).count());
}

bool is_of_library(const MeasuredLine& line) {
  return line.kind.starts_with("micro.nccl_") && has_case(line.kind);
}

// The unknowns that the GPU has: a rate that a protocol does not have is left out.
std::vector<Unknown> unknowns_of(CollectiveSpec& library) {
  ProtocolSpec& ll = library.protocols[static_cast<std::size_t>(Protocol::ll)];
  ProtocolSpec& ll128 = library.protocols[static_cast<std::size_t>(Protocol::ll128)];
  ProtocolSpec& simple = library.protocols[static_cast<std::size_t>(Protocol::simple)];
  std::vector<Unknown> all = {{"collective.ll.startup", &ll.startup, nullptr},
                              {"collective.ll.rate", nullptr, &ll.rate},
                              {"collective.ll.relay_rate", nullptr, &ll.relay_rate},
                              {"collective.ll128.step", &ll128.step, nullptr},
                              {"collective.simple.startup", &simple.startup, nullptr},
                              {"collective.simple.step", &simple.step, nullptr},
                              {"collective.simple.rate", nullptr, &simple.rate},
                              {"collective.simple.relay_rate", nullptr, &simple.relay_rate},
                              {"collective.channel_rate", nullptr, &library.channel_rate},
                              {"collective.exchange_rate", nullptr, &library.exchange_rate}};
  if (library.peer_parts) {
    all.push_back({"collective.peer_parts.startup", &library.peer_parts->startup, nullptr});
    all.push_back({"collective.peer_parts.total", nullptr, &library.peer_parts->total});
  }
  std::erase_if(all, [](const Unknown& unknown) { return value_of(unknown) <= 0; });
  return all;
}

// How a value found earlier is set in a scenario.
std::string set_of(const FittedValue& value) {
  const bool of_link = value.path.starts_with("link.");
  return fmt::format("cluster.{}{}={}", of_link ? "scale_up." : "gpu.", value.path, value.text);
}

class CollectiveFit {
 public:
  CollectiveFit(const std::vector<MeasuredLine>& lines, PredictOptions options, Fit& fit)
      : options_(std::move(options)), fit_(fit), unknowns_(unknowns_of(fit.gpu.collective)) {
    // Rounds over all lines: with the start values, with each number changed, in the search, with
    // the solution, and with each of its numbers changed.
    const std::size_t rounds = 1 + unknowns_.size() + kMostRounds + 1 + unknowns_.size();
    if (options_.on_progress) {
      tell_ = [this, rounds](std::size_t done, std::size_t all) {
        on_progress_(rounds_ * all + done, rounds * all);
      };
      on_progress_ = std::exchange(options_.on_progress, nullptr);
    }
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(lines_), is_of_library);
    for (const FittedValue& value : fit.values) {
      if (!value.path.starts_with("workload.")) options_.sets.push_back(set_of(value));
    }
  }

  void run() {
    const std::vector<double> times = simulated(starts());
    if (times.empty()) return;
    keep_what_moves_nothing(times);
    if (unknowns_.empty()) return;
    // Numbers that only act together would drift apart; each is tied to its start value, with the
    // weight of kHold lines.
    constexpr double kHold = 0.3;
    const std::vector<double> start = starts();
    std::vector<double> measured;
    measured.reserve(lines_.size() + start.size());
    for (const MeasuredLine& line : lines_) measured.push_back(line.us);
    measured.insert(measured.end(), start.size(), 1.0);
    const auto model = [&](const std::vector<double>& p) {
      std::vector<double> all = simulated(p);
      if (all.empty()) all.assign(lines_.size(), 1.0);  // reported in the problems
      for (std::size_t i = 0; i < p.size(); ++i) all.push_back(std::pow(p[i] / start[i], kHold));
      return all;
    };
    // Simulated times are not smooth: a smaller step would see their corners.
    const Solution found =
        least_squares(measured, start, model, {.step = 0.03, .most_calls = kMostRounds});
    note(found);
  }

 private:
  [[nodiscard]] std::vector<double> starts() const {
    std::vector<double> values;
    values.reserve(unknowns_.size());
    for (const Unknown& unknown : unknowns_) values.push_back(value_of(unknown));
    return values;
  }

  std::vector<double> simulated(const std::vector<double>& values) {
    PredictOptions options = options_;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      options.sets.push_back(set_text(unknowns_[i], values[i]));
    }
    options.on_progress = tell_;
    Predictions predictions = predict(lines_, options);
    ++rounds_;
    std::vector<double> times;
    times.reserve(predictions.outcomes.size());
    for (const Outcome& outcome : predictions.outcomes) times.push_back(outcome.predicted_us);
    if (times.empty() && !fit_.problems.has_errors()) fit_.problems.append(predictions.problems);
    return times;
  }

  // Keeps a number if 10 % more of it changes no line by over 1 %: the lines do not determine it.
  void keep_what_moves_nothing(const std::vector<double>& times) {
    std::vector<Unknown> moving;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      std::vector<double> values = starts();
      values[i] *= 1.1;
      const std::vector<double> moved = simulated(values);
      if (moved.empty()) return unknowns_.clear();  // reported in the problems
      double most = 0;
      for (std::size_t line = 0; line < moved.size(); ++line) {
        most = std::max(most, std::abs(moved[line] / times[line] - 1));
      }
      if (most > 0.01) {
        moving.push_back(unknowns_[i]);
      } else {
        fit_.kept.push_back(fmt::format("{}: kept; none of the micro.nccl_* lines depends on it",
                                        unknowns_[i].path));
      }
    }
    unknowns_ = std::move(moving);
  }

  void note(const Solution& solution) {
    const std::vector<double>& found = solution.parameters;
    const std::vector<double> times = simulated(found);
    std::vector<double> errors;
    for (std::size_t i = 0; i < times.size(); ++i) {
      errors.push_back(times[i] / lines_[i].us - 1);
    }
    if (errors.empty()) return;  // reported in the problems
    const ErrorSummary error = summarise("all", errors);
    const std::string from =
        fmt::format("simulated, with all of collective: {} nccl_* lines, median {:.1f} %",
                    lines_.size(), error.median * 100);
    FitRun run(lines_, fit_);
    std::vector<std::string> paths;
    paths.reserve(unknowns_.size());
    for (const Unknown& unknown : unknowns_) paths.emplace_back(unknown.path);
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      const Unknown& unknown = unknowns_[i];
      HowSure sure = how_sure(solution, i, paths);
      sure.worst = std::abs(error.worst);
      if (unknown.time != nullptr) {
        *unknown.time = run.note(unknown.path, from_us(found[i]), from, sure);
      } else {
        *unknown.rate = run.note(unknown.path, from_bytes_a_us(found[i]), from, sure);
      }
    }
  }

  static constexpr int kMostRounds = 120;  // of the search; it usually takes half of them

  PredictOptions options_;
  std::function<void(std::size_t, std::size_t)> on_progress_;  // of all rounds together
  std::function<void(std::size_t, std::size_t)> tell_;         // of one round
  std::size_t rounds_ = 0;
  Fit& fit_;
  std::vector<Unknown> unknowns_;
  std::vector<MeasuredLine> lines_;
};

}  // namespace

void fit_collectives(const std::vector<MeasuredLine>& lines, const PredictOptions& options,
                     Fit& fit) {
  if (std::none_of(lines.begin(), lines.end(), is_of_library)) {
    fit.kept.emplace_back("collective: kept; micro.nccl_* of several sizes would determine it");
    return;
  }
  CollectiveFit(lines, options, fit).run();
}

}  // namespace weft
