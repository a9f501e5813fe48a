// How far a sweep is: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

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
  enum class Show { yes, no };

  SweepProgress(SweepCounts counts, Show show);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

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

  void show_until_stopped();
  void print(const char* before, const char* after) const;

  mutable std::mutex lock_;
  std::condition_variable changed_;
  SweepCounts counts_;
  bool stopping_ = false;
  bool on_terminal_;
  Clock::time_point start_;
  std::thread shower_;  // not running where nothing is shown
};

}  // namespace weft
