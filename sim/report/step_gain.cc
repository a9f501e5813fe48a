#include "sim/report/step_gain.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/numbers.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

// Without the host's time, if runs are.
Duration recorded_step(const RunReport& report) {
  if (!report.recorded) return {};
  const RecordedStep& step = *report.recorded;
  return step.time - (step.with_host ? Duration{} : step.unlaunched);
}

double share(Duration time, Duration of) { return to_seconds(time) / to_seconds(of); }

}  // namespace

std::optional<StepTime> step_of(const RunReport& report) {
  if (const Duration recorded = recorded_step(report); recorded > Duration{}) {
    return StepTime{.time = recorded, .recorded = true};
  }
  const ModeRun* bulk = find_run(report, Mode::bulk);
  if (bulk == nullptr || bulk->result.time == Duration{}) return std::nullopt;
  return StepTime{.time = bulk->result.time};
}

double ratio_error(WorkloadKind pattern) {
  const double measured = row_of(pattern).error.within;
  if (measured > 0) return measured;
  double largest = 0;
  for (const KindRow& row : kKindRows) largest = std::max(largest, row.error.within);
  return largest;
}

Mode best_mode(const Candidate& pair) {
  Mode best = Mode::bulk;
  Duration least = pair.bulk;
  for (const Mode mode : modes_of(pair.pattern)) {
    const Duration time = pair.time_in(mode);
    if (time == Duration{} || time >= least) continue;
    best = mode;
    least = time;
  }
  return best;
}

std::optional<StepGain> gain_of(const Candidate& pair, const std::optional<StepTime>& step) {
  if (!step || !pair.obstacle.empty()) return std::nullopt;
  const Mode best = best_mode(pair);
  if (best == Mode::bulk) return std::nullopt;
  const double all = static_cast<double>(pair.times) * share(pair.bulk, step->time);
  const double saved = 1 - share(pair.time_in(best), pair.bulk);
  const double within = ratio_error(pair.pattern);
  return StepGain{.saved = all * saved,
                  .least = all * (saved - within),
                  .most = all * std::min(1.0, saved + within)};
}

std::optional<double> bound_of_refused(const Candidate& pair, const std::optional<StepTime>& step) {
  if (!step || pair.obstacle.empty() || pair.exposed <= Duration{}) return std::nullopt;
  return std::min(1.0, static_cast<double>(pair.times) * share(pair.exposed, step->time));
}

std::string refused_text(const RunReport& report) {
  const std::optional<StepTime> step = step_of(report);
  const Candidate* largest = nullptr;
  double most = 0;
  for (const Candidate& pair : report.candidates) {
    const std::optional<double> bound = bound_of_refused(pair, step);
    if (!bound || *bound <= most) continue;
    largest = &pair;
    most = *bound;
  }
  if (largest == nullptr) return {};
  return fmt::format(
      " Of pairs that cannot be fused, {} could save most: at most {:.1f} % of the {} step.",
      largest->name, 100 * most, step->recorded ? "recorded" : "bulk");
}

std::string text_of(const StepGain& gain) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", -100 * gain.saved, -100 * gain.most,
                     -100 * gain.least);
}

std::string gains_text(const RunReport& report) {
  const std::optional<StepTime> step = step_of(report);
  StepGain all;
  bool any = false;
  bool measured = true;
  for (const Candidate& pair : report.candidates) {
    const std::optional<StepGain> gain = gain_of(pair, step);
    if (!gain) continue;
    any = true;
    measured = measured && row_of(pair.pattern).error.within > 0;
    all.saved += gain->saved;
    all.least += gain->least;
    all.most += gain->most;
  }
  if (!any) return {};
  return fmt::format("all in their best mode, each pair by itself: {} of the {} step, {}{}\n",
                     text_of(all), step->recorded ? "recorded" : "bulk", time_text(step->time),
                     measured ? "" : "; the errors of some kinds of pairs were never measured");
}

std::string recording_text(const RunReport& report) {
  std::string text;
  if (report.recorded && report.recorded->time > Duration{}) {
    text += fmt::format(
        " In the recorded step, {}, the GPU had nothing to do for {} of the time because the host "
        "had launched nothing.",
        time_text(report.recorded->time),
        percent_text(share(report.recorded->unlaunched, report.recorded->time)));
  }
  if (report.moved.empty()) return text;
  const auto moved = [&](MovedBy by) { return percent_text(moved_share(report.moved, by)); };
  return text + fmt::format(
                    " Of the kernels' time on the GPU that they were recorded on, {} was scaled by "
                    "a model "
                    "of what they compute, {} by their roofline, {} not at all.",
                    moved(MovedBy::model), moved(MovedBy::roofline), moved(MovedBy::nothing));
}

std::string replay_text(const RunReport& report) {
  const Duration recorded = recorded_step(report);
  const ModeRun* bulk = find_run(report, Mode::bulk);
  if (recorded == Duration{} || bulk == nullptr) return {};
  return fmt::format("recorded: {}{}; bulk here: {:+.1f} %\n", time_text(recorded),
                     report.recorded->with_host ? "" : " without the host's time",
                     100 * (share(bulk->result.time, recorded) - 1));
}

}  // namespace weft
