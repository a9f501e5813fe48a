// How far a sweep is: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "sim/app/progress.h"
#include "sim/sweep/observer.h"

namespace weft {

// "[====>     ] 12/100 done, 1 failed, 2 running, 3.4 points/s, 0:26 left"
std::string progress_text(const SweepCounts& counts, double seconds);

class SweepProgress {
 public:
  explicit SweepProgress(ProgressLine::Show show);

  // Called from several threads.
  void update(const SweepCounts& counts);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] ProgressLine::Told told() const;

  mutable std::mutex lock_;
  SweepCounts counts_;
  Clock::time_point start_;
  ProgressLine line_;  // the last one: its thread asks the others
};

}  // namespace weft
