// The progress of `weft run`: which mode, its size, how much of it is done.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "sim/app/progress.h"
#include "sim/engine/simulate.h"
#include "sim/scenario/scenario.h"

namespace weft {

class RunProgress {
 public:
  RunProgress(int gpus, ProgressLine::Show show);

  // From now on this mode runs.
  OnProgress begin(Mode mode);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] ProgressLine::Told told() const;

  mutable std::mutex lock_;
  int gpus_;
  Mode mode_ = Mode::bulk;
  std::optional<Progress> progress_;  // none: nothing is simulated yet
  Clock::time_point start_;           // of what is simulated
  ProgressLine line_;                 // the last one: its thread asks the others
};

}  // namespace weft
