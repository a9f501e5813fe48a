// What fusing a kind of pair would save of the whole step, and how sure that is.
#pragma once

#include <optional>
#include <string>

#include "sim/report/run_report.h"

namespace weft {

// Shares of the step's time. From `least` to `most`: 90 % of the measured pairs were within this of
// what weft predicted (docs/accuracy.md, "fused / bulk, difference"). A negative `least`: it might
// cost time.
struct StepGain {
  double saved = 0;
  double least = 0;
  double most = 0;
};

// The step that gains are shares of: the recorded one, if it was recorded on this GPU, less the
// host's time if that is dropped; else mode bulk's. Nothing: neither is there.
struct StepTime {
  Duration time;
  bool recorded = false;
};
std::optional<StepTime> step_of(const RunReport& report);

// Of fused over bulk of such pairs; if nobody measured them, the largest of all others.
double ratio_error(WorkloadKind pattern);

// The mode in which the pair by itself takes least, the coarser one of two that take as long.
Mode best_mode(const Candidate& pair);

// All occurrences of the pair in its best mode, by itself. Nothing if it cannot be fused, or gains
// nothing.
std::optional<StepGain> gain_of(const Candidate& pair, const std::optional<StepTime>& step);

// The most that all occurrences could save of a pair that cannot be fused: what its collective adds
// by itself. Nothing if it can be, or that is not known.
std::optional<double> bound_of_refused(const Candidate& pair, const std::optional<StepTime>& step);

// "-3.1 % (-4.0 to -2.2)".
std::string text_of(const StepGain& gain);

// The pair that cannot be fused and could save most, as a sentence that begins with a space; empty
// if there is none.
std::string refused_text(const RunReport& report);

// One line of all pairs together; empty if none gains.
std::string gains_text(const RunReport& report);

// Of a trace, as sentences: how much of the recorded step was the host's, and how much of the
// kernels' time rests on which model, if they were moved to another GPU. Each begins with a space.
std::string recording_text(const RunReport& report);

// Of a trace: how long mode bulk takes, compared with the recorded step. Empty if either is
// missing.
std::string replay_text(const RunReport& report);

}  // namespace weft
