// How far a sweep is: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

#include "sim/app/progress.h"

namespace weft {

struct SweepCounts {
  std::size_t all = 0;
  std::size_t before = 0;  // were finished when it began
  std::size_t done = 0;    // with those
  std::size_t failed = 0;  // of them
  std::size_t running = 0;
};

// "[====>     ] 12/100 done, 1 failed, 2 running, 3.4 points/s, 0:26 left"
std::string progress_text(const SweepCounts& counts, double seconds);

class SweepProgress {
 public:
  SweepProgress(SweepCounts counts, ProgressLine::Show show);

  // Of several threads:
  void begin();
  void abandon();
  enum class Ending { ok, failed };
  void end(Ending ending, std::size_t rows);
  // Counted elsewhere.
  void put(const SweepCounts& counts);

  [[nodiscard]] SweepCounts counts() const;

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] ProgressLine::Told told() const;

  mutable std::mutex lock_;
  SweepCounts counts_;
  Clock::time_point start_;
  ProgressLine line_;  // the last one: its thread asks the others
};

}  // namespace weft
