// Work that begins nothing new when its time is over: what asks interrupted(). Points that have
// begun stop, too, once one has ended within that time (sweep/interrupt.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace weft {

using Seconds = std::chrono::duration<double>;

// One at a time. After it has gone, interrupted() says again whether there was a signal.
class TimeLimit {
 public:
  explicit TimeLimit(std::optional<Seconds> limit);  // none: no limit
  TimeLimit(const TimeLimit&) = delete;              // its thread refers to it
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit();

 private:
  std::mutex ending_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread waiting_;
};

// So much time, divided among searches: each has an equal share of what those before it have left.
class Allowance {
 public:
  explicit Allowance(std::optional<Seconds> all);
  // Of the next one, of so many that are still to come; none: as long as it takes.
  [[nodiscard]] std::optional<Seconds> share(std::size_t to_come) const;

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace weft
