#include "sim/report/mode_ranges.h"

#include "sim/report/baseline.h"
#include "sim/report/field_value.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

std::optional<TimeRange> asked_range(const ModeView& mode) {
  const std::optional<LawErrors>& errors = mode.report.cluster.spec.gpu.errors;
  if (!mode.report.scenario.run.range || !errors) return std::nullopt;
  return range_of(mode.run.result, *errors);
}

// How many times as fast as `other` measured ones would be.
std::optional<SpeedupRange> range_over(const ModeView& mode, const ModeRun* other) {
  const std::optional<LawErrors>& errors = mode.report.cluster.spec.gpu.errors;
  const RunResult& result = mode.run.result;
  if (!mode.report.scenario.run.range || !errors || other == nullptr) return std::nullopt;
  if (result.time.count() == 0 || is_isolated(result.mode)) return std::nullopt;
  if (result.mode == other->result.mode) return std::nullopt;
  return speedup_range_of(other->result, result, *errors);
}

std::optional<SpeedupRange> asked_speedup_range(const ModeView& mode) {
  return range_over(mode, mode.baseline);
}

std::optional<SpeedupRange> asked_unfused_range(const ModeView& mode) {
  return is_fused(mode.run.result.mode) ? range_over(mode, best_unfused(mode.report))
                                        : std::nullopt;
}

template <class Range>
std::optional<double> end_of(const std::optional<Range>& range, double Range::*end) {
  return range ? std::optional((*range).*end) : std::nullopt;
}

std::string ends_text(double low, double high, Unit unit) {
  return table_text(value_of(low), unit) + " to " + table_text(value_of(high), unit);
}

std::string text_of(const std::optional<SpeedupRange>& range) {
  return range ? ends_text(range->low, range->high, Unit::ratio) : "-";
}

}  // namespace

std::optional<double> range_end(const ModeView& mode, double TimeRange::*end) {
  return end_of(asked_range(mode), end);
}

std::string range_text(const ModeView& mode) {
  const std::optional<TimeRange> range = asked_range(mode);
  return range ? ends_text(range->low_us, range->high_us, Unit::us) : "-";
}

std::optional<double> speedup_end(const ModeView& mode, double SpeedupRange::*end) {
  return end_of(asked_speedup_range(mode), end);
}

std::string speedup_range_text(const ModeView& mode) { return text_of(asked_speedup_range(mode)); }

std::optional<double> unfused_end(const ModeView& mode, double SpeedupRange::*end) {
  return end_of(asked_unfused_range(mode), end);
}

std::string unfused_range_text(const ModeView& mode) { return text_of(asked_unfused_range(mode)); }

}  // namespace weft
