#include "sim/report/step_gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/report/numbers.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

struct ErrorOf {
  WorkloadKind pattern;
  RatioError error;
};

// The largest "90 % within" of the pair's rows that stand for one kernel fused as weft does it: our
// own kernels on H200, Triton's and the HIP embedding on H100. Not those of HIP GEMMs on H100,
// which take 2.5 times as long as the library's.
constexpr auto kErrors = std::to_array<ErrorOf>({
    {WorkloadKind::embedding_all_to_all, {.within = 0.135, .row = "torch.emb.hip"}},
    {WorkloadKind::gemv_all_reduce, {.within = 0.108, .row = "gemv.fused"}},
    {WorkloadKind::gemm_all_to_all, {.within = 0.102, .row = "torch.gemm.triton"}},
    {WorkloadKind::gemm_reduce_scatter, {.within = 0.128, .row = "gemm_rs.fused"}},
    {WorkloadKind::all_gather_gemm, {.within = 0.117, .row = "torch.ag_gemm.triton"}},
});

double share(Duration time, Duration of) { return to_seconds(time) / to_seconds(of); }

}  // namespace

std::optional<StepTime> step_of(const RunReport& report) {
  if (report.recorded && report.recorded->time > Duration{}) {
    return StepTime{.time = report.recorded->time, .recorded = true};
  }
  const ModeRun* bulk = find_run(report, Mode::bulk);
  if (bulk == nullptr || bulk->result.time == Duration{}) return std::nullopt;
  return StepTime{.time = bulk->result.time};
}

RatioError ratio_error(WorkloadKind pattern) {
  const auto* const row =
      std::find_if(kErrors.begin(), kErrors.end(),
                   [pattern](const ErrorOf& other) { return other.pattern == pattern; });
  if (row != kErrors.end()) return row->error;
  RatioError largest =
      std::max_element(kErrors.begin(), kErrors.end(), [](const ErrorOf& a, const ErrorOf& b) {
        return a.error.within < b.error.within;
      })->error;
  largest.measured = false;
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
  const double within = ratio_error(pair.pattern).within;
  return StepGain{.saved = all * saved,
                  .least = all * (saved - within),
                  .most = all * std::min(1.0, saved + within)};
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
    measured = measured && ratio_error(pair.pattern).measured;
    all.saved += gain->saved;
    all.least += gain->least;
    all.most += gain->most;
  }
  if (!any) return {};
  return fmt::format("all in their best mode: {} of the {} step, {}{}\n", text_of(all),
                     step->recorded ? "recorded" : "bulk", time_text(step->time),
                     measured ? "" : "; the errors of some kinds of pairs were never measured");
}

}  // namespace weft
