// A line on the terminal that says how far a long run is, and is gone at the end.
#pragma once

#include <chrono>

#include "sim/engine/simulate.h"

namespace weft {

class ProgressLine {
 public:
  enum class Show { on_terminal, never };

  ProgressLine(Mode mode, Show show);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  Mode mode_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point next_;  // no new line before
};

}  // namespace weft
